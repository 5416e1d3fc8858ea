import { Parser } from 'htmlparser2';
import type { BlockWriter } from '../block-writer.ts';
import { maxElementDepth } from '../../../library/office-files/limits.ts';
import type { FileFacts, ReadResult } from '../document-reader.ts';
import { decodeTextPieces } from '../text/decode-text-pieces.ts';
import { tooLarge } from '../../../library/text/unparsable-document.ts';
import { toPictureText } from '../picture-text.ts';
import { HtmlBlockBuilder } from './html-block-builder.ts';

/** Reads a web page as a stream, without building a tree. */
export async function readHtml(bytes: Uint8Array, writer: BlockWriter, { encoding }: FileFacts): Promise<ReadResult> {
  const options = { named: encoding, declared: declaredEncoding(bytes), warnings: writer.warnings };
  return readHtmlPieces(decodeTextPieces(bytes, options), writer);
}

/** Reads HTML and answers the text of its `title` element. */
export async function readHtmlPieces(pieces: AsyncIterable<string> | Iterable<string>, writer: BlockWriter): Promise<ReadResult> {
  const flow = new HtmlBlockBuilder(writer);
  let depth = 0;
  const parser = new Parser({
    onopentag(name, attributes) {
      depth += 1;
      if (depth > maxElementDepth)
        throw tooLarge(`its elements lie more than ${maxElementDepth} deep in each other`, 'save it in a simpler form');
      if (name === 'img' && toPictureText({ title: attributes['title'], description: attributes['alt'] }) === '')
        writer.warnings.add('images_skipped');
      flow.open(name, attributes);
    },
    ontext: (text) => flow.text(text),
    onclosetag(name) {
      depth -= 1;
      flow.close(name);
    },
  });
  for await (const piece of pieces) parser.write(piece);
  parser.end();
  return { title: flow.end() };
}

/** `<meta charset>`, its older form, or an XML declaration. */
export function declaredEncoding(bytes: Uint8Array): string | undefined {
  const beginning = String.fromCharCode(...bytes.subarray(0, 2048));
  return /<(?:meta\b[^>]*?\bcharset|\?xml\b[^>]*?\bencoding)\s*=\s*["']?([\w-]+)/i.exec(beginning)?.[1];
}
