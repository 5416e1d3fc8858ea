import { tooLarge } from '../unparsable-document.ts';
import type { Content } from './content.ts';
import { contentOf } from './content.ts';
import type { FileObject, FileObjects } from './file-objects.ts';
import { exportAnew } from './refuse-bombs.ts';
import { letOthersRun } from '../../../library/let-others-run.ts';

/** What drawing something asks of the reader: bytes of commands, as often as they are drawn, and saved states in each other. */
interface Work {
  bytes: number;
  deepest: number;
  showsText: boolean;
}

const nothing: Readonly<Work> = { bytes: 0, deepest: 0, showsText: false };
/** In bytes of commands: what a reader does besides for a stream, and for a form with text. */
const forStream = 100;
const forForm = 8192;
/** What is looked through before others run. */
const sliceBytes = 1 << 20;
const deepestStates = 200;
const deepestForms = 50;
/** Of a page, in bytes. */
const mostOnPage = 64 << 20;
/** Of all pages, in bytes, and as a multiple of the file once there are many. */
const mostInDocument = 256 << 20;
const mostTimesTheFile = 200;
const ratioMattersFrom = 16 << 20;
/** Objects in which the names of a page are looked for. */
const mostFollowed = 50;

/**
 * What the pages draw, held against the limits: a reader walks through a form as often as it is drawn, and forms draw each other. Told from
 * the bytes before the reader takes them for its own; nothing is known of an encrypted file.
 */
export class PageWork {
  private readonly pages: Map<number, Work>;
  private readonly fileBytes: number;
  private inAll = 0;

  private constructor(pages: Map<number, Work>, fileBytes: number) {
    this.pages = pages;
    this.fileBytes = fileBytes;
  }

  static async of(objects: FileObjects, fileBytes: number): Promise<PageWork> {
    return new PageWork(await new Drawings(objects).pages(), fileBytes);
  }

  /** `reference`: the number of the page's object. Throws `UnparsableDocument` when it asks for too much, or all pages so far do. */
  take(page: number, reference: number | undefined): void {
    const { bytes, deepest } = this.pages.get(reference ?? -1) ?? nothing;
    if (deepest > deepestStates)
      throw tooLarge(`its page ${page} saves more than ${deepestStates} graphics states in each other`, exportAnew);
    if (bytes > mostOnPage) throw tooLarge(`its page ${page} draws more than ${mostOnPage >> 20} MiB of commands`, exportAnew);
    this.inAll += bytes;
    if (this.inAll > mostInDocument) throw tooLarge(tooMuchInAll);
    if (this.inAll > ratioMattersFrom && this.inAll > this.fileBytes * mostTimesTheFile)
      throw tooLarge(`its pages draw more than ${mostTimesTheFile} times the commands that the file has bytes`);
  }
}

const tooMuchInAll = `its pages draw more than ${mostInDocument >> 20} MiB of commands`;

/** Where a name is looked for: several dictionaries, and each may say something else. */
type Names = Map<string, Set<number>>[];

class Drawings {
  private readonly objects: FileObjects;
  private readonly contents = new Map<FileObject, Content>();
  private readonly forms = new Map<number, Work>();
  /** Since others ran. */
  private unpacked = 0;
  private readonly names = new Map<FileObject, Map<string, Set<number>>>();

  constructor(objects: FileObjects) {
    this.objects = objects;
  }

  async pages(): Promise<Map<number, Work>> {
    const pages = new Map<number, Work>();
    let inAll = 0;
    for (const [number, versions] of this.objects.numbered()) {
      for (const version of versions) {
        if (!/\/Contents\b/.test(version.text)) continue;
        const work = await this.page(version);
        inAll += work.bytes;
        if (inAll > mostInDocument) throw tooLarge(tooMuchInAll);
        pages.set(number, most(pages.get(number), work));
      }
    }
    return pages;
  }

  private async page({ text }: FileObject): Promise<Work> {
    const work: Work = { ...nothing };
    let names: Names | undefined;
    let left = 0;
    for (const number of this.contentsIn(text)) {
      names ??= this.namesOf(text);
      let drawn: Work = nothing;
      let leftHere = 0;
      for (const stream of this.objects.get(number)) {
        if (stream.start === undefined) continue;
        const content = await this.content(stream);
        leftHere = Math.max(leftHere, content.left);
        drawn = most(drawn, await this.drawn(content, names, 0));
      }
      work.bytes += drawn.bytes + forStream;
      work.deepest = Math.max(work.deepest, left + drawn.deepest);
      left += leftHere;
      if (work.bytes > mostOnPage || work.deepest > deepestStates) break;
    }
    return work;
  }

  /** The numbers of a page's streams in their order, wherever it names some; its list of them may be an object of its own. */
  private *contentsIn(text: string): Generator<number> {
    const lists = [...text.matchAll(/\/Contents[\s\0]*(\[[^[\]]*\]|\d+[\s\0]+\d+[\s\0]+R)/g)].map(([, list = '']) => list);
    for (const number of referencesIn(lists.join(' '))) {
      const listed = this.objects.get(number).filter(({ start, text: other }) => start === undefined && /^[\s\0]*\[/.test(other));
      if (listed.length === 0) yield number;
      for (const { text: other } of listed) yield* referencesIn(other);
    }
  }

  private async content(stream: FileObject): Promise<Content> {
    let content = this.contents.get(stream);
    if (!content) {
      content = contentOf(await this.objects.unpacked(stream));
      // A predictor changes what is unpacked; no program writes commands so.
      if (/\/Predictor[\s\0]+(?!1\b)\d/.test(stream.text)) throw tooLarge('commands in it are packed with a predictor', exportAnew);
      this.contents.set(stream, content);
      this.unpacked += content.bytes;
      if (this.unpacked > sliceBytes) {
        this.unpacked = 0;
        await letOthersRun();
      }
    }
    return content;
  }

  private async drawn(content: Content, names: Names, depth: number): Promise<Work> {
    const work: Work = { bytes: content.bytes, deepest: content.deepest, showsText: content.showsText };
    for (const [name, times] of content.draws) {
      let each: Work = nothing;
      for (const number of namedIn(names, name)) each = most(each, await this.form(number, names, depth + 1));
      // A reader remembers that a form has no text.
      work.bytes += each.showsText ? (each.bytes + forForm) * times : each.bytes;
      work.deepest = Math.max(work.deepest, content.deepest + each.deepest);
      work.showsText ||= each.showsText;
    }
    return work;
  }

  private async form(number: number, names: Names, depth: number): Promise<Work> {
    const known = this.forms.get(number);
    if (known) return known;
    let work: Work = nothing;
    for (const version of this.objects.get(number)) {
      if (version.start === undefined || isPicture(version.text)) continue;
      if (depth > deepestForms) throw tooLarge(`forms in it draw each other more than ${deepestForms} deep`, exportAnew);
      const own = /\/Resources\b/.test(version.text) ? this.namesOf(version.text) : names;
      work = most(work, await this.drawn(await this.content(version), own, depth));
    }
    this.forms.set(number, work);
    return work;
  }

  /** The names of a dictionary, and of the objects that its resources lie in; a page has those of what it hangs on too. */
  private namesOf(text: string): Names {
    const names = [namesIn(text)];
    const followed = new Set<number>();
    for (const found of names) {
      for (const number of namedIn([found], 'Resources', 'XObject', 'Parent')) {
        if (followed.has(number) || followed.size > mostFollowed) continue;
        followed.add(number);
        names.push(...this.objects.get(number).map((object) => this.namesInObject(object)));
      }
    }
    return names;
  }

  private namesInObject(object: FileObject): Map<string, Set<number>> {
    let names = this.names.get(object);
    if (!names) {
      names = namesIn(object.text);
      this.names.set(object, names);
    }
    return names;
  }
}

const isPicture = (text: string) => /\/Subtype\s*\/Image\b/.test(text) && !/\/Form\b/.test(text);

/** Every name with a reference behind it, and the numbers referred to. */
function namesIn(text: string): Map<string, Set<number>> {
  const names = new Map<string, Set<number>>();
  for (const [, name = '', number] of text.matchAll(/\/([^\s\0()[\]<>{}/%]+)[\s\0]+(\d+)[\s\0]+\d+[\s\0]+R/g)) {
    const numbers = names.get(name) ?? new Set();
    names.set(name, numbers.add(Number(number)));
  }
  return names;
}

function namedIn(where: Names, ...names: string[]): Set<number> {
  const numbers = new Set<number>();
  for (const found of where) for (const name of names) for (const number of found.get(name) ?? []) numbers.add(number);
  return numbers;
}

function* referencesIn(list: string): Generator<number> {
  for (const [, number] of list.matchAll(/(\d+)[\s\0]+\d+[\s\0]+R/g)) yield Number(number);
}

const most = (one: Work | undefined, other: Work): Work => ({
  bytes: Math.max(one?.bytes ?? 0, other.bytes),
  deepest: Math.max(one?.deepest ?? 0, other.deepest),
  showsText: (one?.showsText ?? false) || other.showsText,
});
