import { tooLarge } from '../../../library/text/unparsable-document.ts';
import type { DrawingContent } from './drawing-content.ts';
import { parseDrawingContent } from './drawing-content.ts';
import { parseNames, parseReferences, resolveNames, type NameTables } from './drawing-names.ts';
import { identity, RulingLineCollector, type DrawnForm, type Matrix, type RulingLine } from './ruling-lines.ts';
import type { PdfObject, PdfObjects } from './pdf-objects.ts';
import { exportAgainAdvice } from './reject-decompression-bombs.ts';
import { mayNeedMarks } from './mark-content.ts';
import { yieldToEventLoop } from '../../../library/limits/yield-to-event-loop.ts';

/** The cost of drawing: bytes of commands, multiplied by how often they are drawn, and the nesting of saved states. */
interface DrawingCost {
  bytes: number;
  maxDepth: number;
  showsText: boolean;
}

const noCost: Readonly<DrawingCost> = { bytes: 0, maxDepth: 0, showsText: false };
/** The overhead of a stream, and of a form with text, in bytes of commands. */
const bytesPerStream = 100;
const bytesPerForm = 8192;
/** The bytes that are scanned before other tasks may run. */
const sliceBytes = 1 << 20;
const maxStateDepth = 200;
const maxFormDepth = 50;
/** The maximum of a page, in bytes. */
const maxPageBytes = 64 << 20;
/** The maximum of all pages, in bytes, and as a multiple of the file for many pages. */
const maxDocumentBytes = 256 << 20;
const maxFileRatio = 200;
const minBytesForRatioCheck = 16 << 20;
/** The maximum of objects that are searched for a page's names. */
const maxFollowedObjects = 50;
/** The maximum of path commands that are kept for forms, and of ruling lines of all pages. Later tables are read by their columns. */
const maxKeptCommands = 100_000;
const maxRulingLines = 300_000;

/**
 * Checks the drawing cost of the pages: a reader processes a form as often as it is drawn, and forms draw each other. Computed from the bytes
 * before the reader takes them over; an encrypted file is not checked.
 */
export class DrawingCosts {
  private readonly pages: Map<number, DrawingCost>;
  private readonly lines: Map<number, Float32Array>;
  /** The streams that may have something to mark (`mark-content.ts`). */
  readonly markable: Set<PdfObject>;
  private readonly fileBytes: number;
  private totalBytes = 0;

  private constructor({ pages, lines, markable }: Pick<DrawingAnalyzer, 'pages' | 'lines' | 'markable'>, fileBytes: number) {
    this.pages = pages;
    this.markable = markable;
    this.lines = lines;
    this.fileBytes = fileBytes;
  }

  static async measure(objects: PdfObjects, fileBytes: number): Promise<DrawingCosts> {
    const analyzer = new DrawingAnalyzer(objects);
    await analyzer.measurePages();
    return new DrawingCosts(analyzer, fileBytes);
  }

  /** The lines that a page draws along and across it. `reference`: the object number of the page. */
  rulingLines(reference: number | undefined): RulingLine[] {
    const numbers = [...(this.lines.get(reference ?? -1) ?? [])];
    return Array.from({ length: numbers.length / 4 }, (_, index) => {
      const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = numbers.slice(index * 4, index * 4 + 4);
      return { x0, y0, x1, y1 };
    });
  }

  /** Throws `UnparsableDocument` when the page, or all pages so far, cost too much. `reference`: the object number of the page. */
  checkPage(page: number, reference: number | undefined): void {
    const { bytes, maxDepth: deepest } = this.pages.get(reference ?? -1) ?? noCost;
    if (deepest > maxStateDepth)
      throw tooLarge(`its page ${page} saves more than ${maxStateDepth} graphics states in each other`, exportAgainAdvice);
    if (bytes > maxPageBytes) throw tooLarge(`its page ${page} draws more than ${maxPageBytes >> 20} MiB of commands`, exportAgainAdvice);
    this.totalBytes += bytes;
    if (this.totalBytes > maxDocumentBytes) throw tooLarge(tooMuchInDocument);
    if (this.totalBytes > minBytesForRatioCheck && this.totalBytes > this.fileBytes * maxFileRatio)
      throw tooLarge(`its pages draw more than ${maxFileRatio} times the commands that the file has bytes`);
  }
}

const tooMuchInDocument = `its pages draw more than ${maxDocumentBytes >> 20} MiB of commands`;

class DrawingAnalyzer {
  /** By the object number of the page. */
  readonly pages = new Map<number, DrawingCost>();
  readonly lines = new Map<number, Float32Array>();
  readonly markable = new Set<PdfObject>();
  private readonly objects: PdfObjects;
  private readonly contents = new Map<PdfObject, DrawingContent>();
  private readonly forms = new Map<number, DrawingCost>();
  /** The scanned bytes since other tasks ran. */
  private unpacked = 0;
  private readonly names = new Map<PdfObject, Map<string, Set<number>>>();
  private readonly drawnForms = new Map<PdfObject, DrawnForm | undefined>();
  private keptCommands = 0;
  private lineCount = 0;

  constructor(objects: PdfObjects) {
    this.objects = objects;
  }

  async measurePages(): Promise<void> {
    let inAll = 0;
    for (const [number, versions] of this.objects.entries()) {
      for (const version of versions) {
        if (!/\/Contents\b/.test(version.text)) continue;
        const collector = new RulingLineCollector();
        const work = await this.measurePage(version, collector);
        inAll += work.bytes;
        if (inAll > maxDocumentBytes) throw tooLarge(tooMuchInDocument);
        this.pages.set(number, maxCost(this.pages.get(number), work));
        this.keepLines(number, collector);
      }
    }
  }

  private keepLines(page: number, { lines, isDrawing }: RulingLineCollector): void {
    this.lines.delete(page);
    if (isDrawing || lines.length === 0 || this.lineCount + lines.length > maxRulingLines) return;
    this.lineCount += lines.length;
    this.lines.set(page, Float32Array.from(lines.flatMap(({ x0, y0, x1, y1 }) => [x0, y0, x1, y1])));
  }

  private async measurePage({ text }: PdfObject, collector: RulingLineCollector): Promise<DrawingCost> {
    const work: DrawingCost = { ...noCost };
    let names: NameTables | undefined;
    let left = 0;
    for (const number of this.findContentStreams(text)) {
      names ??= this.findNames(text);
      let drawn: DrawingCost = noCost;
      let leftHere = 0;
      for (const stream of this.objects.get(number)) {
        if (stream.start === undefined) continue;
        const content = await this.loadContent(stream);
        leftHere = Math.max(leftHere, content.unrestored);
        drawn = maxCost(drawn, await this.measureContent(content, names, 0));
        const tables = names;
        if (content.paths) collector.follow(content.paths, (name) => this.findForm(tables, name));
        if (!this.keepCommands(content)) content.paths = undefined;
      }
      work.bytes += drawn.bytes + bytesPerStream;
      work.maxDepth = Math.max(work.maxDepth, left + drawn.maxDepth);
      left += leftHere;
      if (work.bytes > maxPageBytes || work.maxDepth > maxStateDepth) break;
    }
    return work;
  }

  /** The numbers of a page's streams, in order. The list of them may be an object of its own. */
  private *findContentStreams(text: string): Generator<number> {
    const lists = [...text.matchAll(/\/Contents[\s\0]*(\[[^[\]]*\]|\d+[\s\0]+\d+[\s\0]+R)/g)].map(([, list = '']) => list);
    for (const number of parseReferences(lists.join(' '))) {
      const listed = this.objects.get(number).filter(({ start, text: other }) => start === undefined && /^[\s\0]*\[/.test(other));
      if (listed.length === 0) yield number;
      for (const { text: other } of listed) yield* parseReferences(other);
    }
  }

  private async loadContent(stream: PdfObject): Promise<DrawingContent> {
    let content = this.contents.get(stream);
    if (!content) {
      const unpacked = await this.objects.unpack(stream);
      content = parseDrawingContent(unpacked);
      if (mayNeedMarks(unpacked)) this.markable.add(stream);
      // A predictor transforms the unpacked bytes; no program writes commands with one.
      if (/\/Predictor[\s\0]+(?!1\b)\d/.test(stream.text)) throw tooLarge('commands in it are packed with a predictor', exportAgainAdvice);
      this.contents.set(stream, content);
      this.unpacked += content.bytes;
      if (this.unpacked > sliceBytes) {
        this.unpacked = 0;
        await yieldToEventLoop();
      }
    }
    return content;
  }

  private async measureContent(content: DrawingContent, names: NameTables, depth: number): Promise<DrawingCost> {
    const work: DrawingCost = { bytes: content.bytes, maxDepth: content.maxDepth, showsText: content.showsText };
    for (const [name, times] of content.draws) {
      let each: DrawingCost = noCost;
      for (const number of resolveNames(names, name)) each = maxCost(each, await this.measureForm(number, names, depth + 1));
      // A reader caches that a form has no text.
      work.bytes += each.showsText ? (each.bytes + bytesPerForm) * times : each.bytes;
      work.maxDepth = Math.max(work.maxDepth, content.maxDepth + each.maxDepth);
      work.showsText ||= each.showsText;
    }
    return work;
  }

  private async measureForm(number: number, names: NameTables, depth: number): Promise<DrawingCost> {
    const known = this.forms.get(number);
    if (known) return known;
    let work: DrawingCost = noCost;
    for (const version of this.objects.get(number)) {
      if (version.start === undefined || isImage(version.text)) continue;
      if (depth > maxFormDepth) throw tooLarge(`forms in it draw each other more than ${maxFormDepth} deep`, exportAgainAdvice);
      const own = /\/Resources\b/.test(version.text) ? this.findNames(version.text) : names;
      const content = await this.loadContent(version);
      if (!this.keepCommands(content)) content.paths = undefined;
      work = maxCost(work, await this.measureContent(content, own, depth));
    }
    this.forms.set(number, work);
    return work;
  }

  /** Whether the commands of a stream stay in memory, for the next page or form that draws it. */
  private keepCommands(content: DrawingContent): boolean {
    if (content.isKept) return true;
    if (!content.paths || this.keptCommands + content.paths.length > maxKeptCommands) return false;
    this.keptCommands += content.paths.length;
    content.isKept = true;
    return true;
  }

  /** The form that a name stands for: of several versions the last. Its content has been measured before. */
  private findForm(names: NameTables, name: string): DrawnForm | undefined {
    const number = [...resolveNames(names, name)].at(-1);
    const version = number === undefined ? undefined : this.objects.get(number).findLast(({ start }) => start !== undefined);
    if (!version || isImage(version.text)) return undefined;
    if (!this.drawnForms.has(version)) this.drawnForms.set(version, this.toForm(version, names));
    return this.drawnForms.get(version);
  }

  private toForm(version: PdfObject, names: NameTables): DrawnForm | undefined {
    const commands = this.contents.get(version)?.paths;
    if (!commands || commands.length === 0) return undefined;
    const own = /\/Resources\b/.test(version.text) ? this.findNames(version.text) : names;
    const numbers =
      /\/Matrix[\s\0]*\[([^\]]*)\]/
        .exec(version.text)?.[1]
        ?.match(/[-+.\d]+/g)
        ?.map(Number) ?? [];
    const matrix = numbers.length === 6 ? (numbers as unknown as Matrix) : identity;
    return { commands, matrix, find: (name) => this.findForm(own, name) };
  }

  /** The names of a dictionary and of its resources; a page inherits the names of its parents. */
  private findNames(text: string): NameTables {
    const names = [parseNames(text)];
    const followed = new Set<number>();
    for (const found of names) {
      for (const number of resolveNames([found], 'Resources', 'XObject', 'Parent')) {
        if (followed.has(number) || followed.size > maxFollowedObjects) continue;
        followed.add(number);
        names.push(...this.objects.get(number).map((object) => this.parseObjectNames(object)));
      }
    }
    return names;
  }

  private parseObjectNames(object: PdfObject): Map<string, Set<number>> {
    let names = this.names.get(object);
    if (!names) {
      names = parseNames(object.text);
      this.names.set(object, names);
    }
    return names;
  }
}

const isImage = (text: string) => /\/Subtype\s*\/Image\b/.test(text) && !/\/Form\b/.test(text);

const maxCost = (one: DrawingCost | undefined, other: DrawingCost): DrawingCost => ({
  bytes: Math.max(one?.bytes ?? 0, other.bytes),
  maxDepth: Math.max(one?.maxDepth ?? 0, other.maxDepth),
  showsText: (one?.showsText ?? false) || other.showsText,
});
