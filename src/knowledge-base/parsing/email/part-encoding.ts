import { detectEncoding } from '../../../library/text/decode-text.ts';
import { toEncodingName } from '../../../library/text/encodings/encoding-names.ts';
import type { EncodingGuess } from '../../../library/text/encodings/guess-encoding.ts';
import { UnreadableFileError } from '../../../library/text/unreadable-file.ts';

/** `named`: the charset of the part; `inside`: the one that its HTML names. */
interface NamedEncodings {
  named: string | undefined;
  inside: string | undefined;
}

/** Browsers read these as Western, and so do mail programs that send other text under their name. */
const western = 'windows-1252';

/**
 * The encoding of a text part whose name is missing, unknown or wrong: found by the bytes. Undefined: it is as named. UTF-8 that is named Western is UTF-8; other
 * names are believed.
 */
export function findPartEncoding(
  bytes: Uint8Array,
  { named, inside }: NamedEncodings,
): { encoding: string; guess?: EncodingGuess } | undefined {
  if (!bytes.some((byte) => byte >= 0x80)) return undefined;
  const label = [named, inside].find((one) => knownEncoding(one) !== undefined);
  const known = knownEncoding(label);
  const asNamed = known === undefined || label === named ? undefined : { encoding: known };
  if (known !== undefined && known !== western) return asNamed;
  const found = detect(bytes);
  if (label !== undefined && !/ascii|ansi_x3/i.test(label)) return found?.encoding === 'utf-8' ? { encoding: 'utf-8' } : asNamed;
  return found && { encoding: found.encoding, ...(found.guess && { guess: found.guess }) };
}

/** Programs also write `x-big5` and `cp-1251`. */
function knownEncoding(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  const plain = label.trim().toLowerCase();
  const spellings = [plain, plain.replace(/^x-/, ''), plain.replace(/^(?:cp|windows|win)[-_ ]?(\d{4})$/, 'windows-$1')];
  return spellings.map(toEncodingName).find((name) => name !== null) ?? undefined;
}

function detect(bytes: Uint8Array): { encoding: string; guess?: EncodingGuess } | undefined {
  try {
    return detectEncoding(bytes);
  } catch (error) {
    if (error instanceof UnreadableFileError) return undefined;
    throw error;
  }
}
