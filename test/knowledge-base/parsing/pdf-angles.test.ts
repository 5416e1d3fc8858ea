import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { outlineOf } from '../document-support.ts';
import { pdfOf } from './make-raw-pdf.ts';

interface Placed {
  text: string;
  x: number;
  y: number;
  /** In degrees to the left. */
  angle?: number;
}

/** Pages of text in Helvetica at any angle; `turn`: of a whole page about its middle, in degrees to the left. */
function pagesOf(pages: Placed[][], turn = 0): Uint8Array {
  const draw = ({ text, x, y, angle = 0 }: Placed) => {
    const radians = ((angle + turn) * Math.PI) / 180;
    const [dx, dy, whole] = [x - 306, y - 396, (turn * Math.PI) / 180];
    const place = [306 + dx * Math.cos(whole) - dy * Math.sin(whole), 396 + dx * Math.sin(whole) + dy * Math.cos(whole)];
    const matrix = [Math.cos(radians), Math.sin(radians), -Math.sin(radians), Math.cos(radians), ...place];
    return `BT /F1 10 Tf ${matrix.map((value) => value.toFixed(5)).join(' ')} Tm (${text}) Tj ET`;
  };
  const contents = pages.map((texts) => ['', texts.map(draw).join('\n')] as const);
  const kids = pages.map((_, index) => `${4 + index * 2} 0 R`);
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids.join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    ...contents.flatMap((content, index) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + index * 2} 0 R >>`,
      content,
    ]),
  ]);
}

const below = (texts: string[], x = 120, y = 560): Placed[] => texts.map((text, index) => ({ text, x, y: y - index * 14 }));
const cells = (rows: string[][]): Placed[] =>
  rows.flatMap((row, index) => row.map((text, column) => ({ text, x: 120 + column * 130, y: 440 - index * 20 })));

const page = [
  ...below(['Kettles are cleaned once a month with vinegar and water,', 'which is then poured away, twice where it is needed.']),
  ...cells([
    ['Item', 'Price', 'Stock'],
    ['Kettle', '29 EUR', '12'],
    ['Teapot', '35 EUR', '7'],
    ['Cup', '4 EUR', '230'],
  ]),
];

test.each([-19, -12, -6, -3, -1.3, 1, 2, 6, 12, 19])('a page that lies askew by %d degrees reads as a straight one', async (angle) => {
  const straight = outlineOf(await parseDocument(pagesOf([page]), 'a.pdf'));
  expect(straight).toContain('| Kettle | 29 EUR | 12');
  expect(outlineOf(await parseDocument(pagesOf([page], angle), 'a.pdf'))).toEqual(straight);
  expect(outlineOf(await parseDocument(pagesOf([page], angle + 90), 'a.pdf'))).toEqual(straight);
});

test.each([4, 15, 33, 45, 60, -15, -45, 120])('text that slants by %d degrees beside a straight text is read after it', async (angle) => {
  const text = outlineOf(await parseDocument(pagesOf([[...page, { text: '20 percent off until May', x: 300, y: 300, angle }]]), 'a.pdf'));
  expect(text.slice(0, -1)).toEqual(outlineOf(await parseDocument(pagesOf([page]), 'a.pdf')));
  expect(text.at(-1)).toBe('p 20 percent off until May');
});

test('a page of slanted text alone is read', async () => {
  const bytes = pagesOf([[{ text: 'Summer sale', x: 100, y: 300, angle: 45 }]]);
  expect(outlineOf(await parseDocument(bytes, 'a.pdf'))).toEqual(['h1 Summer sale']);
});

test('a stamp that stands on every page is read once', async () => {
  const stamp = { text: 'DRAFT', x: 200, y: 300, angle: 45 };
  const pages = ['One kettle', 'Two kettles', 'Three kettles'].map((text) => [{ text, x: 60, y: 700 }, stamp]);
  const text = outlineOf(await parseDocument(pagesOf(pages), 'a.pdf')).join('\n');
  expect(text.match(/DRAFT/g)).toHaveLength(1);
  expect(text).toContain('Three kettles');
});
