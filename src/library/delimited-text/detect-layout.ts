import { isName } from './find-header.ts';
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
 * above the header. Commas between digits are decimal where another delimiter makes a table. Excel's hint, a first line `sep=;`, is not read here. A table of one column gives a comma. `isWhole`: `head` is the whole text.
 */
export function detectLayout(head: string, isWhole: boolean): TableLayout {
  const scored = delimiters.map((delimiter) => {
    const records = readRecords(head, delimiter, isWhole);
    const counts = records.map((record) => ('text' in record ? record.cellCount : record.cells.length));
    const score = scoreDelimiter(
      counts.map((count) => count - 1),
      isProse(records[0], delimiter),
    );
    const texts = records.map((record) => ('text' in record ? record.text : record.cells.join(delimiter)));
    const isBelowTitle = score.rank === 2 && hasNames(texts[score.titles]!, delimiter);
    return { delimiter, width: findMode(counts.filter((count) => count > 1)), score, texts, isBelowTitle };
  });
  const isDecimal = ({ delimiter, texts }: { delimiter: Delimiter; texts: string[] }) => delimiter === ',' && hasDecimalsOnly(texts);
  const below = scored.find(({ delimiter, isBelowTitle }) => delimiter !== ',' && isBelowTitle);
  // The first line is a title with a comma.
  if (below && !below.texts[below.score.titles]!.includes(',') && hasDecimalsOnly(below.texts.slice(below.score.titles)))
    scored[0]!.score.rank = 1;
  const [best] = scored.toSorted(
    (one, other) =>
      other.score.rank - one.score.rank ||
      Number(isDecimal(one)) - Number(isDecimal(other)) ||
      Number(other.isBelowTitle) - Number(one.isBelowTitle) ||
      other.score.share - one.score.share ||
      other.score.inHeader - one.score.inHeader,
  );
  return best && best.score.rank > 0 ? { delimiter: best.delimiter, width: best.width } : { delimiter: ',', width: scored[0]!.width };
}

interface Score {
  /** 3: it makes a table of the first line and the most of those below. 2: it makes one below titles. 1: it is in the first line. 0: it makes no table. */
  rank: number;
  share: number;
  inHeader: number;
  /** How many lines without the delimiter stand above the header. */
  titles: number;
}

/** Records with another number of cells than the header count half, because short records are common. */
function scoreDelimiter(counts: number[], isFirstProse: boolean): Score {
  const titles = counts.findIndex((count) => count > 0);
  const [inHeader = 0, ...below] = titles < 0 ? [] : counts.slice(titles);
  const points = below.map((count) => (count === inHeader ? 1 : count > 0 ? 0.5 : 0));
  const share = points.length === 0 ? 0 : points.reduce<number>((sum, point) => sum + point, 0) / points.length;
  const isTable = isFirstProse ? share === 1 : share >= 0.5 || below.length === 0;
  const rank = titles === 0 ? (isTable ? 3 : 1) : titles > 0 && titles <= maxTitleLines && share > 0.5 ? 2 : 0;
  return { rank, share, inHeader, titles };
}

/** Whether a record may be a header. */
const hasNames = (text: string, delimiter: Delimiter): boolean =>
  text.split(delimiter).every((cell) => isName(cell.trim().replace(/^"|"$/g, '')));

/** Whether no comma stands anywhere but between digits. */
const hasDecimalsOnly = (texts: string[]): boolean => texts.every((text) => !/(?<!\d),|,(?!\d)/.test(text));

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
