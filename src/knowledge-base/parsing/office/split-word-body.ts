import { Parser } from 'htmlparser2';
import { deepestElements } from '../limits.ts';
import { tooLarge } from '../unparsable-document.ts';

/** Elements that only hold others: between their children a body can be cut. */
const holders = new Set(['w:document', 'w:body', 'w:sdt', 'w:sdtContent', 'w:tbl', 'w:customXml']);

/**
 * The main part of a docx in parts of about `partLength` characters that are each a whole document: cut between paragraphs or rows, with the
 * elements around the cut closed and opened again. The library that reads them holds forty times their text.
 */
export async function* splitWordBody(pieces: AsyncIterable<string>, partLength: number): AsyncGenerator<string, undefined, undefined> {
  const open: { name: string; tag: string }[] = [];
  let buffered = '';
  let bufferedFrom = 0;
  let cutAt: number | undefined;
  let nextTags = '';
  let prefix = '';
  const parser: Parser = new Parser(
    {
      onopentag(name) {
        const tag = holders.has(name) ? buffered.slice(parser.startIndex - bufferedFrom, parser.endIndex + 1 - bufferedFrom) : '';
        open.push({ name, tag });
        if (open.length > deepestElements)
          throw tooLarge(`its elements lie more than ${deepestElements} deep in each other`, 'save it in a simpler form');
      },
      onclosetag() {
        open.pop();
        const isWhole = open.length >= 2 && open.every((element) => holders.has(element.name));
        if (!isWhole || cutAt !== undefined || parser.endIndex + 1 - bufferedFrom < partLength) return;
        cutAt = parser.endIndex + 1;
        nextTags = open.map((element) => element.tag).join('');
      },
    },
    { xmlMode: true },
  );
  for await (const piece of pieces) {
    buffered += piece;
    parser.write(piece);
    if (cutAt === undefined) continue;
    const closing = open.length === 0 ? '' : closingTags(nextTags);
    yield prefix + buffered.slice(0, cutAt - bufferedFrom) + closing;
    buffered = buffered.slice(cutAt - bufferedFrom);
    bufferedFrom = cutAt;
    prefix = nextTags;
    cutAt = undefined;
  }
  parser.end();
  yield prefix + buffered;
}

const closingTags = (tags: string): string =>
  [...tags.matchAll(/<([\w:]+)/g)]
    .map(([, name]) => `</${name}>`)
    .toReversed()
    .join('');
