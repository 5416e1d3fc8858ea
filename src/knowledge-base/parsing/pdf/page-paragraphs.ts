import type { Hyphens } from './hyphens.ts';
import type { PageRuns } from './page-runs.ts';
import { paragraphsOf } from './paragraphs.ts';
import type { PageParagraph } from './paragraphs.ts';
import { regionsOf } from './regions.ts';
import type { RunningLines } from './running-lines.ts';
import { segmentsOf } from './segments.ts';
import { cellsOf } from './table-rows.ts';

/** A page with more is a drawing or an attack: it is read in the order of the file. A page full of small print has 3,000. */
const mostRuns = 20_000;
/** Of runs with each other, in a document: 4,000 pages of 1,000. Beyond them only pages with few runs are put in order. */
const mostComparisons = 4e9;
const fewRuns = 500;

/** What earlier pages have taught. */
export interface PageMemory {
  running: RunningLines;
  hyphens: Hyphens;
  comparisons: number;
}

/** The paragraphs of a page, each region of it for itself, in reading order. `number` from 1. */
export function* pageParagraphs({ runs, aside, height }: PageRuns, number: number, memory: PageMemory): Generator<PageParagraph[]> {
  const { running, hyphens } = memory;
  memory.comparisons += runs.length ** 2;
  if (runs.length > mostRuns || (memory.comparisons > mostComparisons && runs.length > fewRuns))
    yield [unplaced('text', number, runs.map((run) => run.text).join(' '))];
  else {
    const segments = running.withoutThem(segmentsOf(runs), number, height);
    for (const { text } of segments) hyphens.learn(text);
    for (const region of regionsOf(segments)) {
      if (region.kind === 'lines') yield paragraphsOf(region.rows, number, hyphens);
      else yield [{ ...unplaced('table', number), rows: cellsOf(region.rows, hyphens) }];
    }
  }
  if (aside.trim() !== '') yield [unplaced('text', number, aside)];
}

const unplaced = (kind: PageParagraph['kind'], page: number, text = ''): PageParagraph => ({
  kind,
  text,
  rows: [],
  page,
  size: 0,
  font: '',
  isOneFont: false,
  lineCount: 1,
  isFilled: false,
});
