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

/** What earlier pages have taught. */
export interface PageMemory {
  running: RunningLines;
  hyphens: Hyphens;
}

/** The paragraphs of a page, each region of it for itself, in reading order. `number` from 1. */
export function* pageParagraphs(
  { runs, aside, height }: PageRuns,
  number: number,
  { running, hyphens }: PageMemory,
): Generator<PageParagraph[]> {
  if (runs.length > mostRuns) yield [unplaced('text', number, runs.map((run) => run.text).join(' '))];
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
