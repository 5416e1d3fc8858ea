import { expect, test } from 'vitest';
import { chunkDocument } from '../../../src/knowledge-base/chunks/chunk-document.ts';
import { documentText } from '../../../src/knowledge-base/chunks/split-blocks.ts';
import { estimateTokens } from '../../../src/knowledge-base/chunks/estimate-tokens.ts';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { bytesOf } from '../document-support.ts';
import { documentOf, heading, item, paragraph, table } from './make-document.ts';

const words = (count: number, word = 'word') => Array.from({ length: count }, () => word).join(' ');
const sentences = (count: number) =>
  Array.from({ length: count }, (_, index) => `Sentence ${index} says that the kettle is warm and ready.`).join(' ');
const textsOf = (chunks: { chunk_text: string }[]) => chunks.map(({ chunk_text }) => chunk_text);

test('a chunk never goes over a heading, and names what leads to it', () => {
  const chunks = chunkDocument(
    documentOf(
      [
        paragraph('Before.'),
        heading(1, 'Handbook'),
        heading(2, 'Returns'),
        paragraph('Within 45 days.'),
        heading(3, 'Gifts'),
        paragraph('Never.'),
        heading(2, 'Warranty'),
        paragraph('Three years.'),
      ],
      'Acme',
    ),
  );
  expect(chunks.map(({ chunk_text, metadata }) => [chunk_text, metadata.headings])).toEqual([
    ['Before.', []],
    ['Handbook\n\nReturns\n\nWithin 45 days.', ['Handbook', 'Returns']],
    ['Gifts\n\nNever.', ['Handbook', 'Returns', 'Gifts']],
    ['Warranty\n\nThree years.', ['Handbook', 'Warranty']],
  ]);
  expect(chunks[2]?.contextualized_text).toBe('Acme\nHandbook > Returns > Gifts\n\nGifts\n\nNever.');
});

test('a title that is the first heading is not said twice', () => {
  const [first] = chunkDocument(documentOf([heading(1, 'Handbook'), paragraph('Text.')], 'Handbook'));
  expect(first?.contextualized_text).toBe('Handbook\n\nHandbook\n\nText.');
});

test('short paragraphs of one section share a chunk, up to the target', () => {
  const chunks = chunkDocument(documentOf(Array.from({ length: 10 }, (_, index) => paragraph(`${index} ${words(90)}`))));
  expect(chunks.map(({ tokens }) => tokens)).toEqual([364, 364, 182]);
});

test('a long paragraph is cut between sentences, and a part of each chunk is in the next', () => {
  const text = sentences(100);
  const chunks = chunkDocument(documentOf([paragraph(text)]));
  expect(chunks.length).toBeGreaterThan(2);
  for (const [index, { chunk_text, metadata }] of chunks.entries()) {
    expect(chunk_text).toMatch(/^Sentence \d+ .*ready\.$/);
    const before = chunks[index - 1];
    if (!before) continue;
    const shared = text.slice(metadata.char_start, before.metadata.char_end);
    expect(shared).toMatch(/^Sentence \d+ .*ready\.$/);
    expect(estimateTokens(shared)).toBeGreaterThan(400 * 0.1);
    expect(estimateTokens(shared)).toBeLessThanOrEqual(400 * 0.15);
  }
});

test('paragraphs that fit are not repeated', () => {
  const chunks = chunkDocument(documentOf([paragraph(words(300)), paragraph(words(300))]));
  expect(textsOf(chunks)).toEqual([words(300), words(300)]);
});

test('a list stays with what leads to it, and in one piece where it fits', () => {
  const list = [paragraph('Bring along:'), ...Array.from({ length: 10 }, (_, index) => item(`${index} ${words(20)}`))];
  const chunks = chunkDocument(documentOf([paragraph(words(300)), ...list]));
  expect(chunks).toHaveLength(2);
  expect(chunks[1]?.chunk_text).toMatch(/^Bring along:\n\n0 word/);
});

test('a long list is cut between items, without repeating any', () => {
  const items = Array.from({ length: 60 }, (_, index) => item(`Item ${index} ${words(20)}`));
  const chunks = chunkDocument(documentOf(items));
  expect(chunks.flatMap(({ chunk_text }) => chunk_text.split('\n'))).toEqual(items.map(({ text }) => text));
});

test('a long table is cut between rows, and every part begins with the header', () => {
  const rows = Array.from({ length: 200 }, (_, index) => `Kettle ${index} | black | ${index}.90`);
  const chunks = chunkDocument(
    documentOf([
      table(['Name | Colour | Price', ...rows.slice(0, 100)].join('\n')),
      table(rows.slice(100).join('\n'), 'Name | Colour | Price', true),
    ]),
  );
  expect(chunks.length).toBeGreaterThan(3);
  for (const { chunk_text } of chunks) expect(chunk_text).toMatch(/^Name \| Colour \| Price\nKettle \d+ \| black/);
  expect(chunks.flatMap(({ chunk_text }) => chunk_text.split('\n').slice(1))).toEqual(rows);
});

test('the place of a repeated header is that of the rows below it', () => {
  const document = documentOf([
    table(['Name | Price', ...Array.from({ length: 200 }, (_, index) => `Kettle ${index} | ${index}.90`)].join('\n')),
  ]);
  const text = documentText(document);
  for (const { chunk_text, metadata } of chunkDocument(document).slice(1))
    expect(chunk_text).toBe(`Name | Price\n${text.slice(metadata.char_start, metadata.char_end)}`);
});

test('what has no blanks is cut without cutting a sign', () => {
  const chunks = chunkDocument(documentOf([paragraph('😀'.repeat(3000)), paragraph('人'.repeat(3000))]));
  for (const { chunk_text } of chunks) expect(chunk_text.isWellFormed()).toBe(true);
  expect(textsOf(chunks).join('').length).toBeGreaterThanOrEqual(9000);
});

test('Chinese is cut between sentences', () => {
  const chunks = chunkDocument(documentOf([paragraph('人人生而自由，在尊严和权利上一律平等。'.repeat(60))]));
  expect(chunks.length).toBeGreaterThan(1);
  for (const { chunk_text } of chunks) expect(chunk_text.endsWith('。')).toBe(true);
});

test('the page is that of the beginning of the chunk', () => {
  const chunks = chunkDocument(documentOf([paragraph(words(300), 1), paragraph(words(300), 2), paragraph('end', 3)]));
  expect(chunks.map(({ metadata }) => metadata.page)).toEqual([1, 2]);
});

test('a document parsed and cut has a chunk for each of its sections', async () => {
  const text =
    '# Returns handbook\n\n## Refund window\n\n45 days.\n\n## Warranty on kettles\n\nThe K-200 has three years.\n\n## Opening hours\n\n10:00 to 19:00.\n';
  const chunks = chunkDocument(await parseDocument(bytesOf(text), 'handbook.md'));
  expect(chunks.map(({ metadata }) => metadata.headings.at(-1))).toEqual(['Refund window', 'Warranty on kettles', 'Opening hours']);
  expect(chunks[1]?.contextualized_text).toBe(
    'Returns handbook > Warranty on kettles\n\nWarranty on kettles\n\nThe K-200 has three years.',
  );
});
