export type DocumentType = 'pdf' | 'docx' | 'pptx' | 'xlsx' | 'csv' | 'tsv' | 'txt' | 'md' | 'html' | 'json' | 'rtf' | 'eml';

/** `page`: from 1, the page of a PDF, the slide of a presentation; null where the file has no pages of its own. */
interface BlockBase {
  text: string;
  page: number | null;
}

/** `level`: 1 is the highest, 6 the lowest. */
export interface Heading extends BlockBase {
  kind: 'heading';
  level: number;
}

export interface Paragraph extends BlockBase {
  kind: 'paragraph';
}

/** `text` is without its bullet; the number of an ordered item stays, since others may speak of it. */
export interface ListItem extends BlockBase {
  kind: 'list_item';
}

/**
 * `text` has one row a line, cells parted by ` | `: a cell holds no line end, and millions of cells as separate strings would not fit into
 * memory. `header` is the row that names the columns, the first line of `text` unless `isContinued`: then the rows go on from the block before.
 */
export interface Table extends BlockBase {
  kind: 'table';
  header: string | null;
  isContinued: boolean;
}

export type Block = Heading | Paragraph | ListItem | Table;

/** `pages`: null where the file has no pages of its own. `pages_without_text`: pictures or scans among them. */
export interface DocumentMetadata {
  type: DocumentType;
  pages: number | null;
  pages_without_text: number;
}

/** `title` is what the document itself says, null when it says nothing. */
export interface ParsedDocument {
  title: string | null;
  blocks: Block[];
  metadata: DocumentMetadata;
}
