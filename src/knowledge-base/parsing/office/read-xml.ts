import { Parser } from 'htmlparser2';
import { maxElementDepth } from '../limits.ts';
import { tooLarge } from '../unparsable-document.ts';

/** Names are without their prefix: `w:p` is `p`. Attributes keep theirs. */
export interface XmlHandler {
  open?(name: string, attributes: Record<string, string>): void;
  text?(text: string): void;
  close?(name: string): void;
}

/** Reads XML as a stream. Damaged XML is read as far as possible. Its own entities are not expanded. */
export async function readXml(pieces: AsyncIterable<string> | Iterable<string>, handler: XmlHandler): Promise<void> {
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth += 1;
        if (depth > maxElementDepth)
          throw tooLarge(`its elements lie more than ${maxElementDepth} deep in each other`, 'save it in a simpler form');
        handler.open?.(removePrefix(name), attributes);
      },
      ontext: (text) => handler.text?.(text),
      onclosetag(name) {
        depth -= 1;
        handler.close?.(removePrefix(name));
      },
    },
    { xmlMode: true },
  );
  for await (const piece of pieces) parser.write(piece);
  parser.end();
}

const removePrefix = (name: string): string => name.slice(name.indexOf(':') + 1);
