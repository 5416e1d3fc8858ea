import { toHeaderKey } from './header-key.ts';
import { phoneHeaderModifiers, phoneHeaders, ambiguousPhoneHeaders } from './phone-headers.ts';

/**
 * The columns that hold the row's phone number, best first, as indexes into `headers`. The best filled one wins; among equally filled
 * ones the order of the words, then a plain header before one with an addition (`Home Phone`), then the position in the file.
 */
export function findPhoneColumns(headers: string[], sample: { cells: string[] }[]): number[] {
  const found: { index: number; fit: HeaderMatch; filled: number }[] = [];
  for (const [index, header] of headers.entries()) {
    const fit = matchHeader(header);
    if (fit) found.push({ index, fit, filled: sample.filter((row) => hasPhoneDigits(row.cells[index])).length });
  }
  // A column called just "number" may be anything: it counts only where nothing better is there.
  const clear = found.filter((column) => !column.fit.isVague);
  return (clear.length > 0 ? clear : found)
    .toSorted((one, other) => other.filled - one.filled || one.fit.rank - other.fit.rank || one.index - other.index)
    .map((column) => column.index);
}

const hasPhoneDigits = (cell = '') => (cell.match(/\p{Nd}/gu)?.length ?? 0) >= 5;

interface HeaderMatch {
  rank: number;
  isVague: boolean;
}

function matchHeader(header: string): HeaderMatch | undefined {
  const key = toHeaderKey(header);
  const plain = phoneHeaders.indexOf(key);
  if (plain >= 0) return { rank: plain, isVague: ambiguousPhoneHeaders.includes(key) };
  const word = rankCompoundHeader(key);
  return word === undefined ? undefined : { rank: phoneHeaders.length + word, isVague: false };
}

const maxPartLength = Math.max(...[...phoneHeaders, ...phoneHeaderModifiers].map((word) => word.length));

/** The rank of the best phone word in a key that consists of phone words, additions and digits alone; undefined for any other key. */
function rankCompoundHeader(key: string): number | undefined {
  // reached[n]: the first n characters can be cut into such pieces; the best word among them, Infinity when there is none.
  const reached: (number | undefined)[] = [Infinity];
  for (let end = 1; end <= key.length; end += 1) {
    for (let start = Math.max(0, end - maxPartLength); start < end; start += 1) {
      const before = reached[start];
      const piece = key.slice(start, end);
      const rank = before === undefined ? undefined : rankHeaderPart(piece);
      if (rank !== undefined) reached[end] = Math.min(before!, rank, reached[end] ?? Infinity);
    }
  }
  const best = reached[key.length];
  return best === Infinity ? undefined : best;
}

function rankHeaderPart(piece: string): number | undefined {
  const rank = phoneHeaders.indexOf(piece);
  if (rank >= 0 && piece.length > 1 && !ambiguousPhoneHeaders.includes(piece)) return rank;
  return phoneHeaderModifiers.includes(piece) || /^\d$/.test(piece) ? Infinity : undefined;
}
