import { deflateSync } from 'node:zlib';

/** An object as it is written, or the dictionary of a stream and its bytes. */
export type RawObject = string | readonly [dictionary: string, bytes: string | Uint8Array];

/** A PDF of objects that are numbered from 1; the first is the catalog. */
export function pdfOf(objects: RawObject[]): Uint8Array {
  const parts = [Buffer.from('%PDF-1.4\n')];
  const offsets: number[] = [];
  let length = parts[0]!.length;
  const push = (bytes: Buffer<ArrayBuffer>) => {
    parts.push(bytes);
    length += bytes.length;
  };
  for (const [index, object] of objects.entries()) {
    offsets.push(length);
    if (typeof object === 'string') push(Buffer.from(`${index + 1} 0 obj\n${object}\nendobj\n`, 'latin1'));
    else {
      const bytes = typeof object[1] === 'string' ? Buffer.from(object[1], 'latin1') : Buffer.from(object[1]);
      push(Buffer.from(`${index + 1} 0 obj\n<< ${object[0]} /Length ${bytes.length} >>\nstream\n`));
      push(bytes);
      push(Buffer.from('\nendstream\nendobj\n'));
    }
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const trailer = `trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF\n`;
  push(Buffer.from(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}${trailer}`));
  return new Uint8Array(Buffer.concat(parts));
}

export const someText = 'BT /F1 10 Tf 50 700 Td (hello) Tj ET';
const flate = (text: string): RawObject => ['/Filter /FlateDecode', deflateSync(text)];

/** A page that `content` draws, with Helvetica as F1. `more` are objects from 6 on. */
export const drawing = (content: RawObject, resources = '', more: RawObject[] = [], page = '/Contents 4 0 R', catalog = ''): Uint8Array =>
  pdfOf([
    `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 5 0 R >> ${resources} >> ${page} >>`,
    typeof content === 'string' ? flate(content) : content,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    ...more,
  ]);

/** A form that knows the object of number `next` as X. */
export const formOf = (content: string, next?: number): RawObject => [
  `/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Filter /FlateDecode /Resources << /Font << /F1 5 0 R >> ${next ? `/XObject << /X ${next} 0 R >>` : ''} >>`,
  deflateSync(content),
];

/** A page with text in F1 and in fonts G0, G1 and so on, whose table of meanings has these ranges. */
export function drawingWithMeanings(ranges: string, widths = '[]', fonts = 1): Uint8Array {
  const names = Array.from({ length: fonts }, (_, index) => `G${index}`);
  const descendant = `<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Helvetica /W ${widths} /FontDescriptor << /Type /FontDescriptor /FontName /Helvetica /Flags 4 >> >>`;
  const map = `/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange ${ranges} endcmap end`;
  return drawing(
    `${someText} ${names.map((name) => `BT /${name} 10 Tf 50 600 Td <0041> Tj ET`).join(' ')}`,
    `/Font << /F1 5 0 R ${names.map((name, index) => `/${name} ${7 + index} 0 R`).join(' ')} >>`,
    [
      flate(map),
      ...names.map(
        () =>
          `<< /Type /Font /Subtype /Type0 /BaseFont /Helvetica /Encoding /Identity-H /DescendantFonts [${descendant}] /ToUnicode 6 0 R >>`,
      ),
    ],
  );
}

/** A page with text in F1 and in fonts G0, G1 and so on, which name a predefined character map. */
export function drawingWithCharacterMaps(fonts: number): Uint8Array {
  const names = Array.from({ length: fonts }, (_, index) => `G${index}`);
  const descendant =
    '<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Some /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> /FontDescriptor << /Type /FontDescriptor /FontName /Some /Flags 4 >> >>';
  return drawing(
    `${someText} ${names.map((name) => `BT /${name} 10 Tf 50 600 Td <0041> Tj ET`).join(' ')}`,
    `/Font << /F1 5 0 R ${names.map((name, index) => `/${name} ${6 + index} 0 R`).join(' ')} >>`,
    names.map(() => `<< /Type /Font /Subtype /Type0 /BaseFont /Some /Encoding /UniGB-UCS2-H /DescendantFonts [${descendant}] >>`),
  );
}

/** A page with bookmarks, each of which lies in the one before. */
export const drawingWithBookmarks = (depth: number): Uint8Array =>
  drawing(
    someText,
    '',
    [
      '<< /Type /Outlines /First 7 0 R >>',
      ...Array.from({ length: depth }, (_, index) => `<< /Title (hello) ${index + 1 < depth ? `/First ${8 + index} 0 R` : ''} >>`),
    ],
    '/Contents 4 0 R',
    '/Outlines 6 0 R',
  );
