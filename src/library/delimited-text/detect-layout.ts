import { RecordSplitter, type RawRecord } from './split-records.ts';

type Delimiter = ',' | ';' | '\t' | '|';

/** `width`: the usual number of cells of a record; undefined without records. */
interface TableLayout {
  delimiter: Delimiter;
  width: number | undefined;
}

const delimiters: Delimiter[] = [',', ';', '\t', '|'];
const maxSampledRecords = 50;
const maxTitleLines = 10;

/**
 * Detects the delimiter: with it, most of the first records have as many cells as the header. Quoted cells are skipped, and so are lines without the delimiter
 * above the header. Excel's hint, a first line `sep=;`, is not read here. A table of one column gives a comma. `isWhole`: `head` is the whole text.
 */
export function detectLayout(head: string, isWhole: boolean): TableLayout {
  const scored = delimiters.map((delimiter) => {
    const records = readRecords(head, delimiter, isWhole);
    const counts = records.map((record) => ('text' in record ? record.cellCount : record.cells.length));
    const score = scoreDelimiter(
      counts.map((count) => count - 1),
      isProse(records[0], delimiter),
    );
    return { delimiter, width: findMode(counts.filter((count) => count > 1)), score };
  });
  const [best] = scored.toSorted(
    ({ score: one }, { score: other }) => other.rank - one.rank || other.share - one.share || other.inHeader - one.inHeader,
  );
  return best && best.score.rank > 0 ? { delimiter: best.delimiter, width: best.width } : { delimiter: ',', width: scored[0]!.width };
}

interface Score {
  /** 3: it makes a table of the first line and the most of those below. 2: it makes one below titles. 1: it is in the first line. 0: it makes no table. */
  rank: number;
  share: number;
  inHeader: number;
}

/** Records with another number of cells than the header count half, because short records are common. */
function scoreDelimiter(counts: number[], isFirstProse: boolean): Score {
  const titles = counts.findIndex((count) => count > 0);
  const [inHeader = 0, ...below] = titles < 0 ? [] : counts.slice(titles);
  const points = below.map((count) => (count === inHeader ? 1 : count > 0 ? 0.5 : 0));
  const share = points.length === 0 ? 0 : points.reduce<number>((sum, point) => sum + point, 0) / points.length;
  const isTable = isFirstProse ? share === 1 : share >= 0.5 || below.length === 0;
  const rank = titles === 0 ? (isTable ? 3 : 1) : titles > 0 && titles <= maxTitleLines && share > 0.5 ? 2 : 0;
  return { rank, share, inHeader };
}

/** Whether each delimiter is followed by a blank, as in a sentence. */
const isProse = (record: RawRecord | undefined, delimiter: Delimiter): boolean =>
  record !== undefined &&
  'text' in record &&
  record.text
    .split(delimiter)
    .slice(1)
    .every((part) => part.startsWith(' '));

function readRecords(head: string, delimiter: Delimiter, isWhole: boolean): RawRecord[] {
  const splitter = new RecordSplitter({ delimiter, width: undefined });
  const [records = []] = splitter.split(head, isWhole);
  // A head that holds no whole record is one record that is cut off.
  const [cutOff = []] = records.length > 0 ? [] : splitter.split('', true);
  return [...records, ...cutOff].slice(0, maxSampledRecords);
}

function findMode(counts: number[]): number | undefined {
  const frequency = new Map<number, number>();
  for (const count of counts) frequency.set(count, (frequency.get(count) ?? 0) + 1);
  return [...frequency].toSorted(([one, often], [other, otherOften]) => otherOften - often || other - one)[0]?.[0];
}
