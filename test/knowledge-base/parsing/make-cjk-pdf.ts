import { pdfOf } from './make-raw-pdf.ts';

export interface CjkText {
  /** The name of a predefined character map. */
  encoding: string;
  /** Registry and ordering are those of Adobe: GB1, CNS1, Japan1, Korea1. */
  ordering: string;
  /** The codes of the text, in hexadecimal digits. */
  codes: string;
  before?: string;
}

/** A page with a line in a font that is not embedded and has no table of meanings, between two lines in Latin letters. */
export const makeCjkPdf = ({ encoding, ordering, codes, before = 'Shop policy' }: CjkText): Uint8Array =>
  pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> /Contents 4 0 R >>',
    ['', `BT /F1 11 Tf 72 760 Td (${before}) Tj ET BT /F2 12 Tf 72 700 Td <${codes}> Tj ET BT /F1 11 Tf 72 400 Td (End.) Tj ET`],
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    `<< /Type /Font /Subtype /Type0 /BaseFont /Some /Encoding /${encoding} /DescendantFonts [7 0 R] >>`,
    `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Some /CIDSystemInfo << /Registry (Adobe) /Ordering (${ordering}) /Supplement 2 >> /FontDescriptor 8 0 R /DW 1000 >>`,
    '<< /Type /FontDescriptor /FontName /Some /Flags 6 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 90 >>',
  ]);
