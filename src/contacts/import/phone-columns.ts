import { toHeaderKey } from './header-key.ts';
import { asksForPhone } from './phone-questions.ts';
import { rankPhoneOwner } from './phone-owners.ts';
import { phoneHeaderModifiers, phoneHeaders, ambiguousPhoneHeaders } from './phone-headers.ts';

/**
 * The columns with phone numbers, as indexes into `headers`, in the order in which a row's cells are tried: the person's own before the
 * company's, then the preferred word, then a plain header before a compound one (`Home Phone`), then the position in the file. `mapped`: a column
 * that is known to have phones, so that its owner alone is a header, whatever the sample has.
 */
export function findPhoneColumns(headers: string[], sample: { cells: string[] }[], mapped?: number): number[] {
  const found: { index: number; match: HeaderMatch }[] = [];
  for (const [index, header] of headers.entries()) {
    const match = matchHeader(header);
    if (match) found.push({ index, match });
  }
  // A column named "number" may hold anything, so it counts only without a better column.
  const clear = found.filter((column) => !column.match.isAmbiguous);
  if (found.length === 0) return findQuestionColumns(headers, sample);
  const others = clear.length === 0 ? [] : findOwnerColumns(headers, sample, mapped);
  return [...(clear.length > 0 ? clear : found), ...others]
    .toSorted(
      (one, other) =>
        rankPhoneOwner(headers[one.index]!) - rankPhoneOwner(headers[other.index]!) ||
        one.match.rank - other.match.rank ||
        one.index - other.index,
    )
    .map((column) => column.index);
}

/** Columns that are named by an owner alone, such as `Home` beside `Work Phone`, and hold nothing but phone numbers. */
const findOwnerColumns = (headers: string[], sample: { cells: string[] }[], mapped?: number): { index: number; match: HeaderMatch }[] =>
  headers.flatMap((header, index) => {
    const isOwner = phoneHeaderModifiers.includes(toHeaderKey(header)) && [1, 3, 4].includes(rankPhoneOwner(header));
    if (!isOwner || matchHeader(header)) return [];
    const filled = sample.map(({ cells }) => (cells[index] ?? '').trim()).filter((cell) => cell !== '');
    return index === mapped || (filled.length > 0 && filled.every(isWrittenAsPhone))
      ? [{ index, match: { rank: phoneHeaders.length * 2, isAmbiguous: false } }]
      : [];
  });

const isWrittenAsPhone = (cell: string): boolean => {
  const digits = cell.replace(/\D/g, '').length;
  return /^[\d\s+()./-]+$/.test(cell) && digits <= 15 && (cell.startsWith('+') ? digits >= 7 : digits >= 9);
};

/** Headers of forms: "What is your phone number?". They count where no header is a word for phones, unless their cells hold something else. */
const findQuestionColumns = (headers: string[], sample: { cells: string[] }[]): number[] =>
  headers.flatMap((header, index) => {
    const filled = sample.filter((row) => (row.cells[index] ?? '').trim() !== '');
    const phones = filled.filter((row) => hasPhoneDigits(row.cells[index]));
    return asksForPhone(header) && phones.length * 2 >= filled.length ? [index] : [];
  });

const hasPhoneDigits = (cell = '') => (cell.match(/\p{Nd}/gu)?.length ?? 0) >= 5;

interface HeaderMatch {
  rank: number;
  isAmbiguous: boolean;
}

function matchHeader(header: string): HeaderMatch | undefined {
  const key = toHeaderKey(header);
  const plain = phoneHeaders.indexOf(key);
  if (plain >= 0) return { rank: plain, isAmbiguous: ambiguousPhoneHeaders.includes(key) };
  const word = rankCompoundHeader(key);
  return word === undefined ? undefined : { rank: phoneHeaders.length + word, isAmbiguous: false };
}

const maxPartLength = Math.max(...[...phoneHeaders, ...phoneHeaderModifiers].map((word) => word.length));

/** The rank of the best phone word in a key that consists only of phone words, modifiers and digits; undefined for any other key. */
function rankCompoundHeader(key: string): number | undefined {
  // reached[n]: the best rank among the pieces of the first n characters; Infinity without a phone word, undefined when they cannot be split.
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
