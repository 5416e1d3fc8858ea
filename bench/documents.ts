import { lines, makePdf } from '../test/knowledge-base/parsing/make-pdf.ts';
import { createRandom } from '../test/support/vectors.ts';
import { buildPassage, wrapText } from './long-texts.ts';
import { withPictures } from './pdf-pictures.ts';

const linesPerPage = 50;
const charactersPerLine = 90;

/** A PDF with `pages` pages of text. Each number gives another file, since the service does not take the same file twice. */
export function createReport(sentences: string[], pages: number, number: number): Uint8Array<ArrayBuffer> {
  const random = createRandom(number + 1);
  const page = (index: number) => {
    const text = buildPassage(sentences, linesPerPage * charactersPerLine, random);
    return lines([`Page ${index + 1} of report ${number}`, ...wrapText(text, charactersPerLine).slice(0, linesPerPage)], 72, 740);
  };
  return makePdf(Array.from({ length: pages }, (_, index) => page(index))) as Uint8Array<ArrayBuffer>;
}

/** Those that `makePdf` makes: four, two a page, and one that tells of the file. */
const objectsIn = (pages: number) => 5 + 2 * pages;

/** The same with pictures, until it has so many bytes. */
export const createReportWithPictures = (sentences: string[], pages: number, bytes: number): Uint8Array<ArrayBuffer> =>
  withPictures(createReport(sentences, pages, 0), objectsIn(pages) + 1, bytes, createRandom(bytes));

/** A CSV file of as many rows as fit into so many bytes. */
export function createCsv(sentences: string[], bytes: number): Uint8Array {
  const random = createRandom(bytes);
  const rows = ['order,customer,total,remark'];
  let length = rows[0]!.length;
  for (let number = 0; ; number++) {
    const remark = sentences[Math.floor(random() * sentences.length)]!.replaceAll('"', '""');
    const row = `A-${100_000 + number},crm-${number % 5000},${(random() * 500).toFixed(2)},"${remark}"`;
    length += row.length + 1;
    if (length > bytes) break;
    rows.push(row);
  }
  return new TextEncoder().encode(rows.join('\n'));
}
