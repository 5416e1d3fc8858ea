import { Parser } from 'htmlparser2';
import { maxElementDepth } from './limits.ts';
import { tooLarge } from '../text/unparsable-document.ts';

/** Names are without their prefix: `w:p` is `p`. Attributes keep theirs. */
export interface XmlHandler {
  open?(name: string, attributes: Record<string, string>): void;
  text?(text: string): void;
  close?(name: string): void;
}

/** Reads XML piece by piece. Damaged XML is read as far as possible. Its own entities are not expanded. */
export class XmlReader {
  readonly #parser: Parser;
  #depth = 0;
  #hasRoot = false;
  #isEnding = false;
  #isCut = false;

  constructor(handler: XmlHandler) {
    this.#parser = new Parser(
      {
        onopentag: (name, attributes) => {
          this.#depth += 1;
          this.#hasRoot = true;
          if (this.#depth > maxElementDepth)
            throw tooLarge(`its elements lie more than ${maxElementDepth} deep in each other`, 'save it in a simpler form');
          handler.open?.(removePrefix(name), attributes);
        },
        ontext: (text) => handler.text?.(text),
        onclosetag: (name) => {
          this.#depth -= 1;
          this.#isCut ||= this.#isEnding;
          handler.close?.(removePrefix(name));
        },
      },
      { xmlMode: true },
    );
  }

  write(piece: string): void {
    this.#parser.write(piece);
  }

  end(): void {
    this.#isEnding = true;
    this.#parser.end();
  }

  /** Whether the text, which has ended, closed all of its elements. */
  get isWhole(): boolean {
    return this.#hasRoot && !this.#isCut;
  }
}

/** Reads all of an XML text as `XmlReader` does. */
export async function readXml(pieces: AsyncIterable<string> | Iterable<string>, handler: XmlHandler): Promise<void> {
  const reader = new XmlReader(handler);
  for await (const piece of pieces) reader.write(piece);
  reader.end();
}

const removePrefix = (name: string): string => name.slice(name.indexOf(':') + 1);
