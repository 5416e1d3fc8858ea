import { TokenType, Tokenizer } from '@streamparser/json';
import type { BlockWriter } from '../block-writer.ts';
import { maxValueDepth } from '../limits.ts';
import type { FileFacts, ReadResult } from '../document-reader.ts';
import { UnparsableDocument, damaged, tooLarge } from '../../../library/text/unparsable-document.ts';
import { JsonOutline } from './json-outline.ts';
import { decodeTextPieces } from './decode-text-pieces.ts';

/** Keeps numbers as written, so that an id beyond 2^53 stays exact. */
class ExactTokenizer extends Tokenizer {
  protected override parseNumber(text: string): number {
    return text as unknown as number;
  }
}

/** Reads one or several JSON values as text: every value with its name. */
export async function readJson(bytes: Uint8Array, writer: BlockWriter, { encoding }: FileFacts): Promise<ReadResult> {
  const outline = new JsonOutline(writer);
  const tokenizer = new ExactTokenizer({ separator: '' });
  let depth = 0;
  let failure: unknown;
  tokenizer.onToken = ({ token, value }) => {
    if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) {
      depth += 1;
      if (depth > maxValueDepth)
        throw tooLarge(`its values lie more than ${maxValueDepth} deep in each other`, 'save it in a simpler form');
      outline.open(token === TokenType.LEFT_BRACKET);
    } else if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET) {
      depth -= 1;
      outline.close();
    } else if (token === TokenType.COLON) outline.colon();
    else if (token !== TokenType.COMMA && token !== TokenType.SEPARATOR) outline.value(value === null ? '' : String(value));
  };
  // Errors of `onToken` arrive here too.
  tokenizer.onError = (error) => {
    failure ??= error;
  };
  for await (const piece of decodeTextPieces(bytes, { named: encoding, warnings: writer.warnings })) {
    tokenizer.write(piece);
    if (failure instanceof UnparsableDocument) throw failure;
    if (failure) throw damaged('it is no JSON', failure);
  }
  tokenizer.end();
  if (failure || depth !== 0) throw damaged('it is no JSON, or it is cut off', failure);
  outline.end();
  return {};
}
