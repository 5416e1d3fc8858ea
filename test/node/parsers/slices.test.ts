// @module-tag soak
import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { makePresentation, makeWord, makeWorkbook, shapeOf, slideOf } from '../../knowledge-base/parsing/make-archive.ts';
import { makePdf } from '../../knowledge-base/parsing/make-pdf.ts';
import { fillWith } from './worst-cases.ts';

const size = 4 << 20;
const sentence = 'All orders above fifty euros are sent on the day on which they arrive. ';
const bytesOf = (text: string) => new TextEncoder().encode(text);
const head = 'From: a@example.org\nTo: b@example.org\nSubject: s\n';

const documents: [type: string, make: () => Uint8Array | Promise<Uint8Array>][] = [
  ['txt', () => bytesOf(fillWith(`${sentence}\n\n`, size))],
  ['md', () => bytesOf(fillWith(`## Heading\n\n${sentence}\n\n`, size))],
  ['html', () => bytesOf(fillWith(`<p>${sentence}</p>`, size))],
  ['csv', () => bytesOf(`a,b,c\n${fillWith(`1,"${sentence}",3\n`, size)}`)],
  ['tsv', () => bytesOf(`a\tb\tc\n${fillWith(`1\t${sentence}\t3\n`, size)}`)],
  ['json', () => bytesOf(`[${fillWith(`{"text":"${sentence}"},`, size)}1]`)],
  ['rtf', () => bytesOf(`{\\rtf1 ${fillWith(`${sentence}\\par\n`, size)}}`)],
  ['eml', () => bytesOf(`${head}Content-Type: text/html\n\n${fillWith(`<p>${sentence}</p>\n`, size)}`)],
  ['docx', () => makeWord(fillWith(`<w:p><w:r><w:t>${sentence}</w:t></w:r></w:p>`, size))],
  ['xlsx', () => makeWorkbook([{ name: 'A', rows: fillWith(`<row><c t="inlineStr"><is><t>${sentence}</t></is></c></row>`, size) }])],
  [
    'pptx',
    () =>
      makePresentation(
        Array.from({ length: 300 }, () =>
          slideOf(
            shapeOf(
              'body',
              Array.from({ length: 50 }, () => sentence),
            ),
          ),
        ),
      ),
  ],
  ['pdf', () => makePdf(Array.from({ length: 60 }, () => [{ text: sentence, x: 50, y: 700 }]))],
];

/** The library for e-mail joins the lines of a part by a Blob in one step, at which Node is slow. */
const maxShare = (type: string) => (type === 'eml' ? 0.8 : 0.5);

test.each(documents)('a long %s is read in slices, between which others go first', async (type, make) => {
  // The first document of a type loads its parser.
  await parseDocument(await make(), `a.${type}`);
  const bytes = await make();
  const startedAt = performance.now();
  let turnAt = startedAt;
  let longestMs = 0;
  const turn = () => {
    longestMs = Math.max(longestMs, performance.now() - turnAt);
    turnAt = performance.now();
  };
  const turns = setInterval(turn, 1);
  const { blocks } = await parseDocument(bytes, `a.${type}`).finally(() => clearInterval(turns));
  turn();
  expect(blocks.length).toBeGreaterThan(0);
  expect(longestMs / (performance.now() - startedAt)).toBeLessThan(maxShare(type));
});
