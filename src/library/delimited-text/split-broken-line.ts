const isBlank = (character: string | undefined): boolean => character === ' ' || character === '\t' || character === '\f';

/**
 * Splits a line whose quotes follow no rule, in time linear in its length. A quoted cell ends at the first quote before a delimiter or the end; without one, its
 * quote is text. `isClosed`: every quoted cell has an end.
 */
export function splitBrokenLine(line: string, delimiter: string): { cells: string[]; isClosed: boolean } {
  const cells: string[] = [];
  // What was looked for once in vain is not looked for again, since each look may read the whole line.
  let hasPairs = true;
  let hasEnds = true;
  let isClosed = true;
  for (let at = 0; at <= line.length;) {
    let start = at;
    while (isBlank(line[start]) && line[start] !== delimiter) start += 1;
    let closing = -1;
    if (line[start] === '"') {
      if (hasPairs) hasPairs = (closing = findClosingQuote(line, start + 1, delimiter, true)) >= 0;
      if (closing < 0 && hasEnds) hasEnds = (closing = findClosingQuote(line, start + 1, delimiter, false)) >= 0;
      isClosed &&= closing >= 0;
    }
    const end = line.indexOf(delimiter, closing < 0 ? at : closing + 1);
    const stop = end < 0 ? line.length : end;
    cells.push(closing < 0 ? line.slice(at, stop) : line.slice(start + 1, closing).replaceAll('""', '"'));
    at = stop + 1;
  }
  return { cells, isClosed };
}

function findClosingQuote(line: string, from: number, delimiter: string, skipPairs: boolean): number {
  for (let at = line.indexOf('"', from); at >= 0; at = line.indexOf('"', at + 1)) {
    if (skipPairs && line[at + 1] === '"') {
      at += 1;
      continue;
    }
    let after = at + 1;
    while (isBlank(line[after]) && line[after] !== delimiter) after += 1;
    if (after >= line.length || line[after] === delimiter) return at;
  }
  return -1;
}
