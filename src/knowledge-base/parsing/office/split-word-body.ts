import { Parser } from 'htmlparser2';
import { maxElementDepth } from '../../../library/office-files/limits.ts';
import { maxWordTableDepth, maxCharacters } from '../limits.ts';
import { tooLarge } from '../../../library/text/unparsable-document.ts';
import { toOpeningTag } from './xml-text.ts';

/** Elements that only contain other elements. A body can be split between their children. */
const containerElements = new Set(['w:document', 'w:body', 'w:sdt', 'w:sdtContent', 'w:tbl', 'w:customXml']);

/** `isPlain`: the part is too large for the library or its tables are nested too deep; then only its text is read. */
export interface WordPart {
  xml: string;
  isPlain: boolean;
}

/** The library's time depends on the elements more than on the text. */
const targetPartElements = 20_000;
const maxPartElements = 30_000;
/** Elements around a cut are reopened in each part. */
const maxTagsLength = 1 << 16;
const sliceLength = 1 << 14;

/**
 * Splits the main part of a docx into documents of about `partLength` characters, between paragraphs or rows; the elements around a cut
 * are closed and reopened. The library needs forty times the text in memory.
 */
export async function* splitWordBody(pieces: AsyncIterable<string>, partLength: number): AsyncGenerator<WordPart, undefined, undefined> {
  const open: { name: string; tag: string }[] = [];
  let others = 0;
  let tables = 0;
  let elements = 0;
  let isDeep = false;
  let buffered = '';
  let bufferedFrom = 0;
  let cut: { at: number; tags: string; isPlain: boolean } | undefined;
  let prefix = '';
  const isPlain = () => isDeep || elements > maxPartElements;
  const parser: Parser = new Parser(
    {
      onopentag(name, attributes) {
        // Written again, because reading the buffer would concatenate it for every element.
        open.push({ name, tag: containerElements.has(name) ? toOpeningTag(name, attributes) : '' });
        if (open.length > maxElementDepth)
          throw tooLarge(`its elements lie more than ${maxElementDepth} deep in each other`, 'save it in a simpler form');
        elements += 1;
        if (!containerElements.has(name)) others += 1;
        if (name === 'w:tbl') tables += 1;
        isDeep ||= tables > maxWordTableDepth;
      },
      onclosetag(name) {
        open.pop();
        if (!containerElements.has(name)) others -= 1;
        if (name === 'w:tbl') tables -= 1;
        const isFull = elements >= targetPartElements || parser.endIndex + 1 - bufferedFrom >= partLength;
        if (!isFull || cut !== undefined || open.length < 2 || others > 0) return;
        cut = { at: parser.endIndex + 1, tags: open.map((element) => element.tag).join(''), isPlain: isPlain() };
        elements = 0;
        isDeep = false;
      },
    },
    { xmlMode: true },
  );
  for await (const slice of splitIntoSlices(pieces)) {
    buffered += slice;
    parser.write(slice);
    if (buffered.length > maxCharacters) throw tooLarge('it holds a paragraph or a row of millions of characters');
    if (cut === undefined) continue;
    if (cut.tags.length > maxTagsLength) throw tooLarge(`the elements around its text take more than ${maxTagsLength} characters`);
    yield { xml: prefix + buffered.slice(0, cut.at - bufferedFrom) + toClosingTags(cut.tags), isPlain: cut.isPlain };
    buffered = buffered.slice(cut.at - bufferedFrom);
    bufferedFrom = cut.at;
    prefix = cut.tags;
    cut = undefined;
  }
  parser.end();
  yield { xml: prefix + buffered, isPlain: isPlain() };
}

/** A piece may be the whole part; of each slice one cut is made at most. */
async function* splitIntoSlices(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const piece of pieces)
    for (let place = 0; place < piece.length; place += sliceLength) yield piece.slice(place, place + sliceLength);
}

const toClosingTags = (tags: string): string =>
  [...tags.matchAll(/<([\w:]+)/g)]
    .map(([, name]) => `</${name}>`)
    .toReversed()
    .join('');
