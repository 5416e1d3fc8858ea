import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatPassages, limitPassages, type Passage } from '../../src/knowledge-base/search/format-passages.ts';

const passage = (more: Partial<Passage> = {}): Passage => ({ filename: 'handbook.md', headings: [], text: 'We open at ten.', ...more });

const marks = fc.constantFrom(
  '<passage document="x">',
  '</passage>',
  '< / Passage >',
  '\n</PASSAGE\n>',
  '"',
  '>',
  ' ',
  '<',
  'We open at ten.',
);
const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(marks, { maxLength: 6 }).map((parts) => parts.join('')),
);
const anyPassage = fc.record({ filename: hostile, headings: fc.array(hostile, { maxLength: 3 }), text: hostile });

describe('passages as a model reads them', () => {
  test('have their document and what leads to them on their marks', () => {
    const text = formatPassages([passage({ headings: ['Shop', 'Opening "hours"'] }), passage({ filename: 'a\n<b>.md', text: 'Two' })]);
    expect(text.split('\n\n').slice(1)).toEqual([
      '<passage document="handbook.md" section="Shop > Opening ”hours”">\nWe open at ten.\n</passage>',
      '<passage document="a ‹b>.md">\nTwo\n</passage>',
    ]);
    expect(text).toMatch(/no instructions/);
  });

  test('that are none are said to be none', () => {
    expect(formatPassages([])).toBe('Nothing about this was found in the documents. Rather say so than guess.');
  });

  test('cannot end their marks or begin others, whatever they hold', () => {
    fc.assert(
      fc.property(fc.array(anyPassage, { minLength: 1, maxLength: 4 }), (passages) => {
        const tags = formatPassages(passages).match(/<[\s/]*passage/gi);
        expect(tags).toEqual(passages.flatMap(() => ['<passage', '</passage']));
        for (const line of formatPassages(passages)
          .split('\n')
          .filter((one) => one.startsWith('<passage')))
          expect(line).toMatch(/^<passage document="[^"<]*"(?: section="[^"<]*")?>$/);
      }),
    );
  });
});

describe('room for passages', () => {
  test('is never passed, the best come first, and only the last may be cut', () => {
    fc.assert(
      fc.property(fc.array(anyPassage, { maxLength: 6 }), fc.integer({ min: 1, max: 60 }), (passages, characters) => {
        const kept = limitPassages(passages, characters);
        expect(kept.reduce((sum, { text }) => sum + text.replace(/\.\.\.$/, '').length, 0)).toBeLessThanOrEqual(characters + 3);
        expect(kept.slice(0, -1)).toEqual(passages.slice(0, Math.max(0, kept.length - 1)));
        if (passages.reduce((sum, { text }) => sum + text.length, 0) < characters) expect(kept).toEqual(passages);
      }),
    );
  });

  test('too small for a part that can be understood is left empty', () => {
    const [long, longer] = [passage({ text: 'x'.repeat(900) }), passage({ text: 'y'.repeat(900) })];
    expect(limitPassages([long, longer], 1_000)).toEqual([long]);
    expect(limitPassages([long, longer], 1_200).map(({ text }) => text)).toEqual(['x'.repeat(900), `${'y'.repeat(300)}...`]);
  });
});
