import { tooLarge } from '../../../library/text/unparsable-document.ts';
import type { DrawingContent } from './drawing-content.ts';
import { parseDrawingContent } from './drawing-content.ts';
import type { PdfObject, PdfObjects } from './pdf-objects.ts';
import { exportAgainAdvice } from './reject-decompression-bombs.ts';
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

/**
 * Checks the drawing cost of the pages: a reader processes a form as often as it is drawn, and forms draw each other. Computed from the bytes
 * before the reader takes them over; an encrypted file is not checked.
 */
export class DrawingCosts {
  private readonly pages: Map<number, DrawingCost>;
  private readonly fileBytes: number;
  private totalBytes = 0;

  private constructor(pages: Map<number, DrawingCost>, fileBytes: number) {
    this.pages = pages;
    this.fileBytes = fileBytes;
  }

  static async measure(objects: PdfObjects, fileBytes: number): Promise<DrawingCosts> {
    return new DrawingCosts(await new DrawingAnalyzer(objects).measurePages(), fileBytes);
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

/** The dictionaries that resolve a name; each may have another object for it. */
type NameTables = Map<string, Set<number>>[];

class DrawingAnalyzer {
  private readonly objects: PdfObjects;
  private readonly contents = new Map<PdfObject, DrawingContent>();
  private readonly forms = new Map<number, DrawingCost>();
  /** The scanned bytes since other tasks ran. */
  private unpacked = 0;
  private readonly names = new Map<PdfObject, Map<string, Set<number>>>();

  constructor(objects: PdfObjects) {
    this.objects = objects;
  }

  async measurePages(): Promise<Map<number, DrawingCost>> {
    const pages = new Map<number, DrawingCost>();
    let inAll = 0;
    for (const [number, versions] of this.objects.entries()) {
      for (const version of versions) {
        if (!/\/Contents\b/.test(version.text)) continue;
        const work = await this.measurePage(version);
        inAll += work.bytes;
        if (inAll > maxDocumentBytes) throw tooLarge(tooMuchInDocument);
        pages.set(number, maxCost(pages.get(number), work));
      }
    }
    return pages;
  }

  private async measurePage({ text }: PdfObject): Promise<DrawingCost> {
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
      content = parseDrawingContent(await this.objects.unpack(stream));
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
      work = maxCost(work, await this.measureContent(await this.loadContent(version), own, depth));
    }
    this.forms.set(number, work);
    return work;
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

/** Every name with a reference behind it, and the numbers referred to. */
function parseNames(text: string): Map<string, Set<number>> {
  const names = new Map<string, Set<number>>();
  for (const [, name = '', number] of text.matchAll(/\/([^\s\0()[\]<>{}/%]+)[\s\0]+(\d+)[\s\0]+\d+[\s\0]+R/g)) {
    const numbers = names.get(name) ?? new Set();
    names.set(name, numbers.add(Number(number)));
  }
  return names;
}

function resolveNames(where: NameTables, ...names: string[]): Set<number> {
  const numbers = new Set<number>();
  for (const found of where) for (const name of names) for (const number of found.get(name) ?? []) numbers.add(number);
  return numbers;
}

function* parseReferences(list: string): Generator<number> {
  for (const [, number] of list.matchAll(/(\d+)[\s\0]+\d+[\s\0]+R/g)) yield Number(number);
}

const maxCost = (one: DrawingCost | undefined, other: DrawingCost): DrawingCost => ({
  bytes: Math.max(one?.bytes ?? 0, other.bytes),
  maxDepth: Math.max(one?.maxDepth ?? 0, other.maxDepth),
  showsText: (one?.showsText ?? false) || other.showsText,
});
