import type { PDFDocumentProxy } from 'unpdf/pdfjs';
import type { DrawingCosts } from './drawing-cost.ts';
import type { FormFields } from './form-fields.ts';
import type { MarkedContent } from './marked-items.ts';
import type { PictureDescriptions } from './picture-descriptions.ts';
import { toPageRuns, type PageRuns } from './page-runs.ts';
import { nearPages, type RunningLines } from './running-lines.ts';
import { toSegments, type Segment } from './segments.ts';
import { readTextItems } from './text-items.ts';
import { yieldToEventLoop } from '../../../library/limits/yield-to-event-loop.ts';

/** A page with more runs is a drawing or an attack; its text is kept in the order of the file. A page of small print has 3,000 runs. */
const maxRuns = 20_000;
/**
 * The maximum of comparisons between runs in a document: 4,000 pages of 1,000 runs. Later pages are sorted only when they have few runs.
 */
const maxComparisons = 4e9;
const smallPageRuns = 500;
const pagesBetweenCleanups = 20;

/** How often the fonts of the file are loaded. */
export const countFontLoads = (pages: number): number => Math.ceil(pages / pagesBetweenCleanups);

export interface ReadPage {
  number: number;
  page: PageRuns;
  /** The lines and cells of its text; undefined: they are too many to be sorted. */
  segments: Segment[] | undefined;
  /** The filled form fields. */
  fields: string[];
  /** What the page says of its pictures. */
  pictures: string[];
  /** How many parts of it belong to layers that are not shown. */
  hiddenParts: number;
}

/** Reads the pages in order, a few ahead of the one that it returns, so that running lines can be compared with those of the next pages. */
export class PageReader {
  private readonly pdf: PDFDocumentProxy;
  private readonly costs: DrawingCosts;
  private readonly fields: FormFields;
  private readonly pictures: PictureDescriptions;
  private readonly content: MarkedContent;
  private readonly running: RunningLines;
  private comparisons = 0;

  constructor(
    pdf: PDFDocumentProxy,
    {
      costs,
      fields,
      pictures,
      content,
    }: { costs: DrawingCosts; fields: FormFields; pictures: PictureDescriptions; content: MarkedContent },
    running: RunningLines,
  ) {
    this.pdf = pdf;
    this.costs = costs;
    this.fields = fields;
    this.pictures = pictures;
    this.content = content;
    this.running = running;
  }

  async *pages(): AsyncGenerator<ReadPage> {
    const ahead: ReadPage[] = [];
    for (let number = 1; number <= this.pdf.numPages; number += 1) {
      ahead.push(await this.read(number));
      if (ahead.length > nearPages) yield ahead.shift()!;
      await yieldToEventLoop();
    }
    yield* ahead;
  }

  private async read(number: number): Promise<ReadPage> {
    const page = await this.pdf.getPage(number);
    this.costs.checkPage(number, page.ref?.num);
    const text = await readTextItems(page, this.content);
    const runs = toPageRuns(text, this.costs.rulingLines(page.ref?.num), page.getViewport({ scale: 1 }));
    const { fields, hidden } = await this.fields.readPage(page, this.content.layers);
    const pictures = [...text.unplaced, ...(await this.pictures.readPage(page))];
    page.cleanup();
    // Without this the library keeps fonts and texts of all pages: 70 KB a page.
    if (number % pagesBetweenCleanups === 0) await this.pdf.cleanup();
    const segments = this.isSortable(runs) ? toSegments(runs.runs) : undefined;
    if (segments) this.running.note(segments, number, runs.height);
    return { number, page: runs, segments, fields, pictures, hiddenParts: text.hiddenParts + hidden };
  }

  private isSortable({ runs }: PageRuns): boolean {
    this.comparisons += runs.length ** 2;
    return runs.length <= maxRuns && (this.comparisons <= maxComparisons || runs.length <= smallPageRuns);
  }
}
