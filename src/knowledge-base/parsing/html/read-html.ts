import { Parser } from 'htmlparser2';
import type { BlockWriter } from '../block-writer.ts';
import { maxElementDepth } from '../../../library/office-files/limits.ts';
import type { FileFacts, ReadResult } from '../document-reader.ts';
import { decodeTextPieces } from '../text/decode-text-pieces.ts';
import { decodeLatin1 } from '../../../library/text/decode-latin1.ts';
import { tooLarge } from '../../../library/text/unparsable-document.ts';
import { toPictureText } from '../picture-text.ts';
import { HtmlBlockBuilder } from './html-block-builder.ts';

/** What the file says of itself stands in as many bytes. */
const inspectedBytes = 2048;

/** Reads a web page as a stream, without building a tree. */
export async function readHtml(bytes: Uint8Array, writer: BlockWriter, { encoding }: FileFacts): Promise<ReadResult> {
  const options = { named: encoding, declared: declaredEncoding(bytes), warnings: writer.warnings };
  return readHtmlPieces(decodeTextPieces(bytes, options), writer, isXhtml(bytes));
}

/** Reads HTML and answers the text of its `title` element. `hasSections`: sections of CDATA are text, as in XHTML; elsewhere browsers show none. */
export async function readHtmlPieces(
  pieces: AsyncIterable<string> | Iterable<string>,
  writer: BlockWriter,
  hasSections = false,
): Promise<ReadResult> {
  const flow = new HtmlBlockBuilder(writer);
  let depth = 0;
  const parser = new Parser(
    {
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
    },
    { recognizeCDATA: hasSections },
  );
  for await (const piece of pieces) parser.write(piece);
  parser.end();
  return { title: flow.end() };
}

const isXhtml = (bytes: Uint8Array): boolean =>
  /^[^<]*<\?xml\b|<html\b[^>]*\bxmlns\s*=\s*["']http:\/\/www\.w3\.org\/1999\/xhtml/i.test(decodeLatin1(bytes.subarray(0, inspectedBytes)));

/** `<meta charset>`, its older form, or an XML declaration. */
export function declaredEncoding(bytes: Uint8Array): string | undefined {
  const beginning = decodeLatin1(bytes.subarray(0, inspectedBytes));
  return /<(?:meta\b[^>]*?\bcharset|\?xml\b[^>]*?\bencoding)\s*=\s*["']?([\w-]+)/i.exec(beginning)?.[1];
}
