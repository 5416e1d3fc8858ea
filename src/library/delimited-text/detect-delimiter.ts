export type Delimiter = ',' | ';' | '\t' | '|';

const delimiters: Delimiter[] = [',', ';', '\t', '|'];
const maxSampledRecords = 50;

/**
 * Detects the delimiter: with it, most of the first records have as many cells as the header. Quoted cells are skipped. Excel's hint, a
 * first line `sep=;`, is not read here. A table of one column gives a comma.
 */
export function detectDelimiter(head: string): Delimiter {
  const scored = delimiters.map((delimiter) => ({ delimiter, score: scoreDelimiter(countDelimitersPerRecord(head, delimiter)) }));
  const [best] = scored.toSorted(({ score: one }, { score: other }) => other.share - one.share || other.inHeader - one.inHeader);
  return best && best.score.inHeader > 0 ? best.delimiter : ',';
}

/** A delimiter that the header lacks is ruled out. Records with another number of cells count half, because short records are common. */
function scoreDelimiter([inHeader = 0, ...counts]: number[]): { share: number; inHeader: number } {
  if (inHeader === 0) return { share: -1, inHeader };
  const points = counts.map((count) => (count === inHeader ? 1 : count > 0 ? 0.5 : 0));
  return { share: points.length === 0 ? 0 : points.reduce<number>((sum, point) => sum + point, 0) / points.length, inHeader };
}

/** Counts delimiters outside quotes in each record that is not blank. A last record that `head` cuts off is left out. */
function countDelimitersPerRecord(head: string, delimiter: Delimiter): number[] {
  const counts: number[] = [];
  let count = 0;
  let isQuoted = false;
  let atCellStart = true;
  let isBlank = true;
  for (let index = 0; index < head.length && counts.length < maxSampledRecords; index += 1) {
    const character = head[index];
    if (isQuoted) {
      if (character !== '"') continue;
      if (head[index + 1] === '"') index += 1;
      else isQuoted = false;
    } else if (character === '\n' || character === '\r') {
      if (!isBlank) counts.push(count);
      count = 0;
      [atCellStart, isBlank] = [true, true];
    } else if (character === delimiter) {
      count += 1;
      [atCellStart, isBlank] = [true, false];
    } else if (character !== ' ') {
      isQuoted = character === '"' && atCellStart;
      [atCellStart, isBlank] = [false, false];
    }
  }
  return counts.length === 0 && !isBlank ? [count] : counts;
}
