import type { HyphenJoiner } from './hyphens.ts';
import type { PageRuns } from './page-runs.ts';
import { splitIntoParagraphs } from './paragraphs.ts';
import type { PageParagraph } from './paragraphs.ts';
import { splitIntoRegions } from './regions.ts';
import type { RunningLines } from './running-lines.ts';
import { toSegments } from './segments.ts';
import { toTableCells } from './table-rows.ts';

/** A page with more runs is a drawing or an attack; its text is kept in the order of the file. A page of small print has 3,000 runs. */
const maxRuns = 20_000;
/**
 * The maximum of comparisons between runs in a document: 4,000 pages of 1,000 runs. Later pages are sorted only when they have few runs.
 */
const maxComparisons = 4e9;
const smallPageRuns = 500;

/** The state that earlier pages pass to later ones. */
export interface PageReadingState {
  running: RunningLines;
  hyphens: HyphenJoiner;
  comparisons: number;
}

/** The paragraphs of a page, region by region, in reading order. `number`: the page, from 1. */
export function* readPageParagraphs(
  { runs, aside, height }: PageRuns,
  number: number,
  memory: PageReadingState,
): Generator<PageParagraph[]> {
  const { running, hyphens } = memory;
  memory.comparisons += runs.length ** 2;
  if (runs.length > maxRuns || (memory.comparisons > maxComparisons && runs.length > smallPageRuns))
    yield [toUnplacedParagraph('text', number, runs.map((run) => run.text).join(' '))];
  else {
    const segments = running.removeFrom(toSegments(runs), number, height);
    for (const { text } of segments) hyphens.learn(text);
    for (const region of splitIntoRegions(segments)) {
      if (region.kind === 'lines') yield splitIntoParagraphs(region.rows, number, hyphens);
      else yield [{ ...toUnplacedParagraph('table', number), rows: toTableCells(region.rows, hyphens) }];
    }
  }
  if (aside.trim() !== '') yield [toUnplacedParagraph('text', number, aside)];
}

const toUnplacedParagraph = (kind: PageParagraph['kind'], page: number, text = ''): PageParagraph => ({
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
