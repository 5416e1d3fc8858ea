import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chunkDocument } from '../../../src/knowledge-base/chunks/chunk-document.ts';
import { documentText, separatorBefore } from '../../../src/knowledge-base/chunks/split-blocks.ts';
import { estimateTokens } from '../../../src/knowledge-base/chunks/estimate-tokens.ts';
import type { Block, ParsedDocument } from '../../../src/knowledge-base/parsing/blocks.ts';
import { cleanLine } from '../../../src/knowledge-base/parsing/clean-text.ts';
import { documentOf, heading, item, paragraph, table } from './make-document.ts';

const word = fc.oneof(
  fc.constantFrom(
    'kettle',
    'a',
    'Limescale.',
    'five',
    'business',
    'days.',
    'why?',
    '10:00',
    'é',
    '人权',
    '。',
    'при',
    '😀',
    '한국',
    'https://example.org/a/very/long/path?with=query&and=more',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
);
const line = fc
  .array(word, { minLength: 1, maxLength: 120 })
  .map((words) => cleanLine(words.join(' ')))
  .filter((text) => text !== '');
const text = fc.array(line, { minLength: 1, maxLength: 3 }).map((lines) => lines.join('\n'));
const rows = fc.array(line, { minLength: 1, maxLength: 30 });

const blocks: fc.Arbitrary<Block[]> = fc
  .array(
    fc.oneof(
      fc.tuple(fc.integer({ min: 1, max: 6 }), line).map(([level, title]) => [heading(level, title)]),
      text.map((body) => [paragraph(body)]),
      fc.array(text, { minLength: 1, maxLength: 8 }).map((items) => items.map(item)),
      fc.tuple(rows, fc.boolean()).map(([lines, hasHeader]) => [table(lines.join('\n'), hasHeader ? (lines[0] ?? null) : null)]),
      fc.tuple(rows, rows).map(([first, second]) => [table(first.join('\n')), table(second.join('\n'), first[0] ?? null, true)]),
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((groups) => groups.flat());

const options = fc.record({ targetTokens: fc.integer({ min: 20, max: 500 }) });
const always = (law: (document: ParsedDocument, target: number) => void) =>
  fc.assert(
    fc.property(blocks, options, (made, { targetTokens }) => law(documentOf(made, 'Title'), targetTokens)),
    { numRuns: 150 },
  );

/** Every block with where it begins and ends in the document's text. */
function placesOf(document: ParsedDocument): { block: Block; start: number; end: number }[] {
  let end = 0;
  return document.blocks.map((block, index) => {
    const start = end + separatorBefore(block, document.blocks[index - 1]).length;
    end = start + block.text.length;
    return { block, start, end };
  });
}

test('every sign of the text is in a chunk', () =>
  always((document, targetTokens) => {
    const whole = documentText(document);
    const covered = new Uint8Array(whole.length);
    for (const { metadata } of chunkDocument(document, { targetTokens })) covered.fill(1, metadata.char_start, metadata.char_end);
    for (let place = 0; place < whole.length; place += 1)
      if (!covered[place] && /\S/.test(whole.charAt(place)))
        throw new Error(`"${whole.slice(place, place + 20)}" at ${place} is in no chunk`);
  }));

test('the places of a chunk give its text, after the header where one is repeated', () =>
  always((document, targetTokens) => {
    const whole = documentText(document);
    for (const { chunk_text, metadata } of chunkDocument(document, { targetTokens })) {
      const own = whole.slice(metadata.char_start, metadata.char_end);
      expect(own).not.toBe('');
      if (chunk_text === own) continue;
      expect(chunk_text.endsWith(`\n${own}`)).toBe(true);
      expect(whole).toContain(chunk_text.slice(0, -own.length - 1));
    }
  }));

test('chunks come in the order of the text, and overlap within one paragraph alone', () =>
  always((document, targetTokens) => {
    const places = placesOf(document);
    const whole = documentText(document);
    let before = { char_start: -1, char_end: 0 };
    for (const { metadata } of chunkDocument(document, { targetTokens })) {
      expect(metadata.char_start).toBeGreaterThan(before.char_start);
      expect(metadata.char_end).toBeGreaterThan(before.char_end);
      const { char_start: start } = metadata;
      if (start < before.char_end) {
        const around = places.find((place) => start >= place.start && before.char_end <= place.end);
        expect(around?.block.kind).toBe('paragraph');
        expect(estimateTokens(whole.slice(start, before.char_end))).toBeLessThanOrEqual(targetTokens * 0.15);
      }
      before = metadata;
    }
  }));

test('no chunk has more tokens than the most, and none claims other than it has', () =>
  always((document, targetTokens) => {
    for (const { chunk_text, tokens } of chunkDocument(document, { targetTokens })) {
      expect(tokens).toBeLessThanOrEqual(Math.floor(targetTokens * 1.25));
      expect(estimateTokens(chunk_text)).toBeLessThanOrEqual(tokens);
    }
  }));

test('no chunk goes over a heading that follows other text', () =>
  always((document, targetTokens) => {
    const starts = placesOf(document).flatMap(({ block, start }, index) => {
      const follows = index > 0 && document.blocks[index - 1]?.kind !== 'heading';
      return block.kind === 'heading' && follows ? [start] : [];
    });
    for (const { metadata } of chunkDocument(document, { targetTokens }))
      for (const start of starts) expect(start > metadata.char_start && start < metadata.char_end).toBe(false);
  }));

test('tokens of parts cut at blanks add up, and of parts cut anywhere are no fewer', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 5 }), fc.nat(), (lines, at) => {
      const whole = lines.join(' ');
      expect(lines.reduce((sum, part) => sum + estimateTokens(part), 0)).toBe(estimateTokens(whole));
      const cut = at % (whole.length + 1);
      expect(estimateTokens(whole.slice(0, cut)) + estimateTokens(whole.slice(cut))).toBeGreaterThanOrEqual(estimateTokens(whole));
    }),
  );
});
