import { codePageOf, decodeCodePage } from './code-pages.ts';

/** A finished paragraph, or with `row` a row of a table. `level` 0: no heading. `mark`: the number or bullet that stood before it. */
export interface RichTextParagraph {
  text: string;
  level: number;
  isBold: boolean;
  mark: string | undefined;
  row?: string[];
}

/** This many bytes are decoded at the next blank, so that they do not stay in memory one by one. */
const flushThresholdBytes = 1 << 16;

/** The destination of text: the document, nowhere, or a table of the header. */
type Destination = 'text' | 'none' | 'fonts' | 'styles' | 'title' | 'mark';

interface Group {
  destination: Destination;
  page: number;
  skip: number;
  isBold: boolean;
  isHidden: boolean;
}

const destinations: Record<string, Destination> = { fonttbl: 'fonts', stylesheet: 'styles', listtext: 'mark', pntext: 'mark' };
/** Groups whose text is not shown. Other unknown groups are marked by `\*`. */
const skippedGroups = new Set(
  'colortbl info pict object header headerl headerr headerf footer footerl footerr footerf footnote fldinst filetbl listtable listoverridetable revtbl rsidtbl generator themedata colorschememapping datastore latentstyles xmlnstbl bkmkstart bkmkend nonshppict sp annotation atnid atnauthor private nesttableprops'.split(
    ' ',
  ),
);
const symbolCharacters: Record<string, string> = {
  tab: ' ',
  line: '\n',
  emdash: '\u2014',
  endash: '\u2013',
  lquote: '\u2018',
  rquote: '\u2019',
  ldblquote: '\u201c',
  rdblquote: '\u201d',
  bullet: '\u2022',
  emspace: ' ',
  enspace: ' ',
  qmspace: ' ',
  '~': ' ',
  _: '-',
};

/** The state of an RTF reader: groups, the code page, the current paragraph (RTF 1.9.1). */
export class RichTextState {
  title = '';
  private readonly onParagraph: (paragraph: RichTextParagraph) => void;
  private group: Group = { destination: 'text', page: 1252, skip: 1, isBold: false, isHidden: false };
  private readonly groups: Group[] = [];
  private documentPage = 1252;
  private readonly fontPages = new Map<number, number>();
  private font = 0;
  private readonly styleLevels = new Map<number, number>();
  private style = 0;
  private styleName = '';
  private skipBytes = 0;
  private isOptional = false;

  private pieces: string[] = [];
  private pending: number[] = [];
  private mark: string | undefined;
  private level = 0;
  private isInTable = false;
  private isAllBold = true;
  private cells: string[] = [];

  constructor(onParagraph: (paragraph: RichTextParagraph) => void) {
    this.onParagraph = onParagraph;
  }

  open(): void {
    this.flushBytes();
    this.groups.push({ ...this.group });
    this.isOptional = false;
  }

  close(): void {
    this.flushBytes();
    this.group = this.groups.pop() ?? this.group;
  }

  bytes(bytes: Uint8Array): void {
    const from = Math.min(this.skipBytes, bytes.length);
    this.skipBytes -= from;
    for (let index = from; index < bytes.length; index += 1) {
      const byte = bytes[index] ?? 0;
      this.pending.push(byte);
      // No code page has a blank within a character.
      if (byte === 0x20 && this.pending.length >= flushThresholdBytes) this.flushBytes();
    }
  }

  word(word: string, number: number | undefined): void {
    if (word === '\\' || word === '{' || word === '}') return this.bytes(Uint8Array.of(word.charCodeAt(0)));
    if (word === 'u' && number !== undefined) {
      this.flushBytes();
      // Written signed; two of them make a character beyond the basic plane.
      this.write(String.fromCharCode(number & 0xffff));
      this.skipBytes = this.group.skip;
      return;
    }
    this.flushBytes();
    this.skipBytes = 0;
    if (word === '*') this.isOptional = true;
    else if (word === 'title') this.group.destination = 'title';
    else if (this.isOptional || skippedGroups.has(word)) this.group.destination = 'none';
    else if (destinations[word] !== undefined && this.group.destination === 'text') this.group.destination = destinations[word];
    else this.format(word, number);
    if (word !== '*') this.isOptional = false;
  }

  /** Writes the last paragraph, which no `\par` has ended. */
  end(): void {
    this.flushBytes();
    this.endParagraph();
  }

  private format(word: string, number: number | undefined): void {
    const { group } = this;
    if (word === 'ansicpg') this.documentPage = group.page = number ?? 1252;
    else if (word === 'mac') this.documentPage = group.page = 10_000;
    else if (word === 'f' && group.destination === 'fonts') this.font = number ?? 0;
    else if (word === 'fcharset' && group.destination === 'fonts')
      this.fontPages.set(this.font, codePageOf(number ?? 0) ?? this.documentPage);
    else if (word === 'f') group.page = this.fontPages.get(number ?? 0) ?? this.documentPage;
    else if (word === 'uc') group.skip = number ?? 1;
    else if (word === 's') this.setStyle(number ?? 0);
    else if (word === 'b') group.isBold = number !== 0;
    else if (word === 'v') group.isHidden = number !== 0;
    else if (word === 'plain') [group.isBold, group.isHidden, group.page] = [false, false, this.documentPage];
    else if (word === 'outlinelevel' && number !== undefined && number < 9 && group.destination === 'text') this.level = number + 1;
    else if (word === 'pard') [this.level, this.isInTable] = [0, false];
    else if (word === 'intbl') this.isInTable = true;
    else if (word === 'par' || word === 'sect' || word === 'page') this.endParagraph();
    else if (word === 'cell' || word === 'nestcell') this.endCell();
    else if (word === 'row') this.endRow();
    else if (symbolCharacters[word] !== undefined) this.write(symbolCharacters[word]);
  }

  private setStyle(number: number): void {
    this.style = number;
    if (this.group.destination === 'text') this.level = this.styleLevels.get(number) ?? 0;
  }

  /** Decodes the collected bytes before their code page can change. */
  private flushBytes(): void {
    if (this.pending.length === 0) return;
    const text = decodeCodePage(Uint8Array.from(this.pending), this.group.page);
    this.pending = [];
    this.write(text);
  }

  private write(text: string): void {
    const { destination, isHidden, isBold } = this.group;
    if (destination === 'title') this.title += text;
    else if (destination === 'mark') this.mark = (this.mark ?? '') + text;
    else if (destination === 'styles') this.readStyleName(text);
    else if (destination === 'text' && !isHidden) {
      this.pieces.push(text);
      if (!isBold && text.trim() !== '') this.isAllBold = false;
    }
  }

  /** A style's entry ends with its name and a semicolon. */
  private readStyleName(text: string): void {
    this.styleName += text;
    if (!text.includes(';')) return;
    const level = /^\s*(?:heading|title)\s*(\d?)/i.exec(this.styleName);
    if (level) this.styleLevels.set(this.style, Number(level[1]) || 1);
    this.styleName = '';
    this.style = 0;
  }

  private endParagraph(): void {
    if (this.isInTable) {
      this.pieces.push(' ');
      return;
    }
    if (this.group.destination !== 'text') return;
    this.onParagraph({ text: this.pieces.join(''), level: this.level, isBold: this.isAllBold, mark: this.mark });
    this.startParagraph();
  }

  private endCell(): void {
    this.cells.push(`${this.mark ?? ''} ${this.pieces.join('')}`);
    this.startParagraph();
  }

  private endRow(): void {
    if (this.cells.length > 0) this.onParagraph({ text: '', level: 0, isBold: false, mark: undefined, row: this.cells });
    this.cells = [];
    this.startParagraph();
  }

  private startParagraph(): void {
    this.pieces = [];
    this.mark = undefined;
    this.isAllBold = true;
  }
}
