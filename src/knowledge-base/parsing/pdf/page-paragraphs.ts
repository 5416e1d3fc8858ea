import { cleanText } from '../clean-text.ts';
import type { HyphenJoiner } from './hyphens.ts';
import type { ReadPage } from './page-reader.ts';
import { splitIntoParagraphs } from './paragraphs.ts';
import type { PageParagraph } from './paragraphs.ts';
import { splitIntoRegions } from './regions.ts';
import { median, type Region, type Row } from './rows.ts';
import { findRuledTables, type RuledTable } from './ruled-tables.ts';
import type { RunningLines } from './running-lines.ts';
import { toSegments, type Segment } from './segments.ts';
import { findColumns } from './table-columns.ts';
import { toTableCells } from './table-rows.ts';
import type { Rule } from './rules.ts';

/** A page with more lines across it is a drawing: its tables are read by their columns. */
const maxRulesAcross = 300;
const linePitch = 1.2;
/** The length of the text that stands for a line of a table in drawn lines while the page is sorted: it counts as running text. */
const tableLineLength = 60;

/** The state that earlier pages pass to later ones. */
export interface PageReadingState {
  running: RunningLines;
  hyphens: HyphenJoiner;
  /** The texts at an angle so far: a stamp stands on each page, and is read once. */
  stamps: Set<string>;
}

/** The paragraphs of a page, region by region, in reading order, its form fields, and the descriptions of its pictures. */
export function* readPageParagraphs(
  { number, page, segments, fields, pictures }: ReadPage,
  memory: PageReadingState,
): Generator<PageParagraph[]> {
  if (segments) yield* readSorted(memory.running.removeFrom(segments, number), page.rules, number, memory.hyphens);
  else yield [toUnplacedParagraph('text', number, page.runs.map((run) => run.text).join(' '))];
  if (page.aside.trim() !== '') yield [toUnplacedParagraph('text', number, page.aside)];
  if (page.slanted !== '' && !memory.stamps.has(page.slanted)) yield [toUnplacedParagraph('text', number, page.slanted)];
  memory.stamps.add(page.slanted);
  for (const field of fields) yield [toUnplacedParagraph('field', number, field)];
  yield* readPictures({ number, pictures });
}

/** Of a page whose text cannot be read, these are all. */
export function* readPictures({ number, pictures }: Pick<ReadPage, 'number' | 'pictures'>): Generator<PageParagraph[]> {
  for (const picture of pictures) yield [toUnplacedParagraph('field', number, picture)];
}

function* readSorted(segments: Segment[], rules: Rule[], number: number, hyphens: HyphenJoiner): Generator<PageParagraph[]> {
  for (const { text } of segments) hyphens.learn(text);
  const ruled = findRuledTables(
    segments.flatMap(({ runs }) => runs),
    rules,
    hyphens,
  );
  const inTables = new Set(ruled.flatMap(({ runs }) => runs));
  const others = ruled.length === 0 ? segments : segments.flatMap((segment) => withoutRuns(segment, inTables));
  const places = placeTables(ruled, others);
  const across = rules.filter((rule) => rule.isAcross && !ruled.some((table) => rule.at >= table.top - 4 && rule.at <= table.bottom + 4));
  const usable = across.length > maxRulesAcross ? [] : across;
  for (const region of splitIntoRegions([...others, ...places.keys()], usable)) {
    for (const part of splitAtTables(region, places)) {
      if ('cells' in part) yield [{ ...toUnplacedParagraph('table', number), rows: part.cells, columns: part.columns }];
      else if (part.kind === 'lines') yield splitIntoParagraphs(part.rows, number, hyphens);
      else
        yield [
          { ...toUnplacedParagraph('table', number), rows: toTableCells(part.rows, hyphens, usable), columns: findColumns(part.rows) },
        ];
    }
  }
}

function withoutRuns(segment: Segment, excluded: Set<unknown>): Segment[] {
  const left = segment.runs.filter((run) => !excluded.has(run));
  if (left.length === segment.runs.length) return [segment];
  return left.length === 0 ? [] : toSegments(left);
}

/** Lines in the place of each table, which go through the sorting of the page like text. */
function placeTables(tables: RuledTable[], others: Segment[]): Map<Segment, RuledTable> {
  const size = median(
    others.map((segment) => segment.size),
    10,
  );
  const places = new Map<Segment, RuledTable>();
  for (const table of tables) {
    const { left, right, top, bottom } = table;
    const count = Math.max(1, Math.min(200, Math.floor((bottom - top) / (size * linePitch))));
    for (let line = 1; line <= count; line += 1) {
      const baseline = top + ((bottom - top) * line) / count;
      places.set({ text: 'x'.repeat(tableLineLength), left, right, baseline, size, font: '', isOneFont: true, runs: [] }, table);
    }
  }
  return places;
}

/** Puts each table where the first of its lines is. */
function* splitAtTables(region: Region, places: Map<Segment, RuledTable>): Generator<Region | RuledTable> {
  let rows: Row[] = [];
  const written = new Set<RuledTable>();
  for (const row of region.rows) {
    const tables = new Set(row.segments.flatMap((segment) => places.get(segment) ?? []));
    if (tables.size === 0) {
      rows.push(row);
      continue;
    }
    if (rows.length > 0) yield { kind: region.kind, rows };
    for (const table of tables) if (!written.has(table)) yield table;
    for (const table of tables) written.add(table);
    const segments = row.segments.filter((segment) => !places.has(segment));
    rows = segments.length === 0 ? [] : [{ ...row, segments }];
  }
  if (rows.length > 0) yield { kind: region.kind, rows };
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

const maxDamagedShare = 0.5;
const someWord = /\p{L}[\p{L}\p{M}]+/u;

/** Whether anything on the page can be read: a word, or most of what else there is. The letters of some fonts have no meaning in the file. */
export function hasReadableText({ page, fields }: ReadPage): boolean {
  const text = [...page.runs.map((run) => run.text), page.aside, page.slanted, ...fields].join(' ').replace(/\s/g, '');
  const known = cleanText(text.replaceAll('\ufffd', ''));
  return someWord.test(known) || (known !== '' && known.length >= text.length * maxDamagedShare);
}
