import type { PDFPageProxy } from 'unpdf/pdfjs';

/** The text of a page as the library reads it. */
export type TextContent = Awaited<ReturnType<PDFPageProxy['getTextContent']>>;
