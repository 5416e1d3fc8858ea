import { evalToken, Tokenizer, TokenKind, toValue, type Context } from 'liquidjs';

type Bound = Parameters<typeof evalToken>[0];

/** Refuses a bound beyond 2^53: the engine counts by ones, and would never reach the end. */
function limitRangeEnd(bound: Bound): Bound {
  const evaluate = function* (context: Context, lenient?: boolean): Generator<unknown, unknown, unknown> {
    const value = toValue(yield evalToken(bound, context, lenient));
    if (Math.abs(Number(value)) > Number.MAX_SAFE_INTEGER) throw new Error('a range goes beyond 2^53; use smaller numbers');
    return value;
  };
  return {
    kind: TokenKind.FilteredValue,
    initial: { evaluate, postfix: [bound] },
    filters: [],
    getText: () => bound?.getText(),
  } as unknown as Bound;
}

interface RangeReader {
  readGroupOrRange(): { kind: TokenKind; lhs?: Bound; rhs?: Bound } | undefined;
}

/** Limits the ranges of all templates that are parsed from now on. */
export function limitRanges(): void {
  const reader = Tokenizer.prototype as unknown as RangeReader;
  const { readGroupOrRange } = reader;
  reader.readGroupOrRange = function () {
    const read = readGroupOrRange.call(this);
    return read?.kind === TokenKind.Range ? Object.assign(read, { lhs: limitRangeEnd(read.lhs), rhs: limitRangeEnd(read.rhs) }) : read;
  };
}
