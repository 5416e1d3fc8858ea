import { evalToken, Tokenizer, TokenKind, toValue, type Context } from 'liquidjs';

type Bound = Parameters<typeof evalToken>[0];

/** The engine counts up to the end of a range by ones, which never comes where numbers are too large to be told apart. */
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

/** Ranges of every template that is parsed from now on end. */
export function limitRanges(): void {
  const reader = Tokenizer.prototype as unknown as RangeReader;
  const { readGroupOrRange } = reader;
  reader.readGroupOrRange = function () {
    const read = readGroupOrRange.call(this);
    return read?.kind === TokenKind.Range ? Object.assign(read, { lhs: limitRangeEnd(read.lhs), rhs: limitRangeEnd(read.rhs) }) : read;
  };
}
