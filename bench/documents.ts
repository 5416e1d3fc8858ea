import { lines, makePdf } from '../test/knowledge-base/parsing/make-pdf.ts';
import { randomFrom } from '../test/support/vectors.ts';
import { passageOf, wrapped } from './long-texts.ts';
import { withPictures } from './pdf-pictures.ts';

const linesAPage = 50;
const charactersALine = 90;

/** A PDF of so many pages of text; each number makes another, since the same file is not taken twice. */
export function reportOf(sentences: string[], pages: number, number: number): Uint8Array<ArrayBuffer> {
  const random = randomFrom(number + 1);
  const page = (index: number) => {
    const text = passageOf(sentences, linesAPage * charactersALine, random);
    return lines([`Page ${index + 1} of report ${number}`, ...wrapped(text, charactersALine).slice(0, linesAPage)], 72, 740);
  };
  return makePdf(Array.from({ length: pages }, (_, index) => page(index))) as Uint8Array<ArrayBuffer>;
}

/** Those that `makePdf` makes: four, two a page, and one that tells of the file. */
const objectsIn = (pages: number) => 5 + 2 * pages;

/** The same with pictures, until it has so many bytes. */
export const reportWithPictures = (sentences: string[], pages: number, bytes: number): Uint8Array<ArrayBuffer> =>
  withPictures(reportOf(sentences, pages, 0), objectsIn(pages) + 1, bytes, randomFrom(bytes));

/** A CSV file of as many rows as fit into so many bytes. */
export function tableOf(sentences: string[], bytes: number): Uint8Array {
  const random = randomFrom(bytes);
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
