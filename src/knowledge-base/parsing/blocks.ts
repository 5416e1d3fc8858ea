import type { DocumentWarning } from './warnings.ts';

export type DocumentType = 'pdf' | 'docx' | 'pptx' | 'xlsx' | 'csv' | 'tsv' | 'txt' | 'md' | 'html' | 'json' | 'rtf' | 'eml';

/** `page`: from 1, the page of a PDF or the slide of a presentation; null in a file without pages. */
interface BlockBase {
  text: string;
  page: number | null;
}

/** `level`: 1 is the highest, 6 the lowest. */
interface Heading extends BlockBase {
  kind: 'heading';
  level: number;
}

interface Paragraph extends BlockBase {
  kind: 'paragraph';
}

/** `text` has no bullet; the number of an ordered item stays, because other texts may refer to it. */
interface ListItem extends BlockBase {
  kind: 'list_item';
}

/**
 * `text` has one line a row, cells separated by ` | `, because millions of cells as separate strings would not fit into memory. `header`: the
 * row of column names. It is the first line of `text` unless `isContinued`: then the rows continue the block before.
 */
export interface Table extends BlockBase {
  kind: 'table';
  header: string | null;
  isContinued: boolean;
}

export type Block = Heading | Paragraph | ListItem | Table;

/** `pages`: null in a file without pages. `pages_without_text`: pages with pictures or scans only. */
interface DocumentMetadata {
  type: DocumentType;
  pages: number | null;
  pages_without_text: number;
}

/** `title`: the title in the document; null without one. `warnings`: what was left out, or may be read wrongly. */
export interface ParsedDocument {
  title: string | null;
  blocks: Block[];
  metadata: DocumentMetadata;
  warnings: DocumentWarning[];
}
