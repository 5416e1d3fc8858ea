import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { UnparsableDocument } from '../../../src/library/text/unparsable-document.ts';
import { documentBytes, documentNames } from '../../fixtures/documents/documents.ts';
import { bytesOf } from '../document-support.ts';

const names = [
  'a.pdf',
  'a.docx',
  'a.pptx',
  'a.xlsx',
  'a.csv',
  'a.tsv',
  'a.txt',
  'a.md',
  'a.html',
  'a.json',
  'a.rtf',
  'a.eml',
  'a',
  '../../a.txt',
];

/** Whatever comes in, blocks of clean text come out, or a failure that names what to do. */
async function holds(bytes: Uint8Array, name: string): Promise<void> {
  const result = await parseDocument(bytes, name).catch((error: unknown) => error);
  if (result instanceof UnparsableDocument) {
    expect(result.message).toMatch(/; .*(?:upload|save|split)/);
    return;
  }
  if (result instanceof Error) throw result;
  const { blocks } = result as Awaited<ReturnType<typeof parseDocument>>;
  expect(blocks.length).toBeGreaterThan(0);
  for (const { text } of blocks) {
    expect(text).not.toBe('');
    expect(text).toBe(text.trim());
    expect(text.isWellFormed()).toBe(true);
  }
}

test('any bytes under any name are read or refused in words', async () => {
  await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), fc.constantFrom(...names), holds), { numRuns: 300 });
});

test('any text under any name is read or refused in words', async () => {
  const signs = fc.constantFrom(
    '<p>',
    '<table><tr><td>',
    '</td>',
    '</table>',
    '\n',
    '\n\n',
    '\f',
    '# ',
    '- ',
    '|',
    '---|---',
    '"',
    ',',
    '{',
    '}',
    '[',
    ']',
    ':',
    '\\par',
    '\\u-3913?',
    "\\'e4",
    '```',
    '&amp;',
    '\ud83d',
    'word ',
    '1',
    'é',
    '人',
  );
  const text = fc.array(fc.oneof(signs, fc.string({ maxLength: 8 })), { maxLength: 60 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(text, fc.constantFrom(...names), fc.constantFrom('', '{\\rtf1 ', '<html>', '%PDF-1.4\n'), async (body, name, head) =>
      holds(bytesOf(head + body), name),
    ),
    { numRuns: 500 },
  );
});

test('any damage to a document is borne', { tags: 'soak', timeout: 60_000 }, async () => {
  const damage = fc.record({
    name: fc.constantFrom(...documentNames),
    changes: fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 20 }),
    keep: fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
  });
  await fc.assert(
    fc.asyncProperty(damage, async ({ name, changes, keep }) => {
      const bytes = documentBytes(name);
      for (const [place, value] of changes) bytes[place % bytes.length] = value;
      await holds(bytes.slice(0, Math.ceil(bytes.length * keep)), name);
    }),
    { numRuns: 150 },
  );
});
