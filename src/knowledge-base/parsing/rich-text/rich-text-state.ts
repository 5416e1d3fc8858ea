import { computeField, maxInstructionLength } from '../office/field-text.ts';
import type { WarningCounts } from '../warnings.ts';
import { isSymbolFont, showSymbols } from '../../../library/office-files/symbol-fonts.ts';
import { raisedSign, type Raised } from '../../../library/text/raised-digits.ts';
import { codePageOf, decodeCodePage, isKnownCodePage } from './code-pages.ts';

/** Where a paragraph stands: in the text, or in a header, footer or note beside it. */
export type RichTextPlace = 'text' | 'header' | 'footer' | 'note';

/** A finished paragraph, or with `row` a row of a table. `level` 0: no heading. `mark`: the number or bullet that stood before it. */
export interface RichTextParagraph {
  place: RichTextPlace;
  text: string;
  level: number;
  isBold: boolean;
  mark: string | undefined;
  row?: string[];
}

/** This many bytes are decoded at the next blank, so that they do not stay in memory one by one. */
const flushThresholdBytes = 1 << 16;

/** The destination of text: the document, nowhere, a table of the header, or a property of a shape or picture. */
type Destination = 'text' | 'none' | 'fonts' | 'styles' | 'title' | 'mark' | 'propertyName' | 'propertyValue' | 'instruction';

/** `isDeleted`: by a change that is tracked. `beside`: the paragraph around a header, footer, note or box, which the group holds. `holds`: what the group itself is. */
interface Group {
  destination: Destination;
  page: number;
  font: string;
  skip: number;
  isBold: boolean;
  isHidden: boolean;
  isDeleted: boolean;
  raised: Raised;
  place: RichTextPlace;
  beside: Line | undefined;
  holds: 'property' | 'picture' | 'field' | undefined;
  /** The field around. */
  field: { instruction: string; hasResult: boolean } | undefined;
}

/** A paragraph that is being read. */
interface Line {
  pieces: string[];
  mark: string | undefined;
  level: number;
  isInTable: boolean;
  isAllBold: boolean;
  cells: string[];
  hasHidden: boolean;
}

const newLine = (): Line => ({ pieces: [], mark: undefined, level: 0, isInTable: false, isAllBold: true, cells: [], hasHidden: false });

const destinations: Record<string, Destination> = { fonttbl: 'fonts', stylesheet: 'styles', listtext: 'mark', pntext: 'mark' };
/** Groups whose paragraphs stand beside the one around them: in their place, or undefined, in that of the text around. */
const besideGroups: Record<string, RichTextPlace | undefined> = {
  shptxt: undefined,
  header: 'header',
  headerl: 'header',
  headerr: 'header',
  headerf: 'header',
  footer: 'footer',
  footerl: 'footer',
  footerr: 'footer',
  footerf: 'footer',
  footnote: 'note',
};
/** Groups that an old reader may skip, and whose text is shown. */
const shownOptionalGroups = new Set(['shpinst']);
/** Groups whose text is not shown, or is there twice. Other unknown groups are marked by `\*`. */
const skippedGroups = new Set(
  'colortbl info pict objclass objname objdata objalias objsect shprslt filetbl listtable listoverridetable revtbl rsidtbl generator themedata colorschememapping datastore latentstyles xmlnstbl bkmkstart bkmkend xe tc tcn rxe txe shppict nonshppict sp annotation atnid atnauthor private nesttableprops'.split(
    ' ',
  ),
);
/** What a shape or a picture says to those who do not see it: its description, and the words that it draws (RTF 1.9.1, "Drawing Object Properties"). */
const saidProperties = new Set(['wzDescription', 'gtextUNICODE']);
const maxPropertyLength = 1 << 16;
const maxFontNameLength = 200;
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
  private readonly warnings: WarningCounts;
  private group: Group = {
    destination: 'text',
    page: 1252,
    font: '',
    skip: 1,
    isBold: false,
    isHidden: false,
    isDeleted: false,
    raised: '',
    place: 'text',
    beside: undefined,
    holds: undefined,
    field: undefined,
  };
  private readonly groups: Group[] = [];
  private documentPage = 1252;
  private readonly fontPages = new Map<number, number>();
  private readonly unknownPages = new Set<number>();
  private font = 0;
  private fontName = '';
  private readonly fontNames = new Map<number, string>();
  private readonly styleLevels = new Map<number, number>();
  private style = 0;
  private styleName = '';
  private skipBytes = 0;
  private isOptional = false;
  private pending: number[] = [];
  private line = newLine();
  private property = { name: '', value: '' };
  private isPictureDescribed = false;

  constructor(onParagraph: (paragraph: RichTextParagraph) => void, warnings: WarningCounts) {
    this.onParagraph = onParagraph;
    this.warnings = warnings;
  }

  open(): void {
    this.flushBytes();
    this.groups.push(this.group);
    this.group = { ...this.group, beside: undefined, holds: undefined };
    this.isOptional = false;
  }

  close(): void {
    this.flushBytes();
    const { beside, holds, field } = this.group;
    if (holds === 'property') this.sayProperty();
    else if (holds === 'picture' && !this.isPictureDescribed) this.warnings.add('images_skipped');
    if (beside) {
      this.endParagraph();
      this.endRow();
      this.line = beside;
    }
    this.group = this.groups.pop() ?? this.group;
    if (holds === 'field' && field && !field.hasResult)
      this.writeShown(
        computeField(field.instruction, {
          onUnreadSymbol: (font) => this.warnings.add('symbols_unread', { font }),
          onUnsolvedField: () => this.warnings.add('formulas_left_out'),
        }),
      );
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
    else if (word === 'sn' || word === 'sv') this.group.destination = word === 'sn' ? 'propertyName' : 'propertyValue';
    else if (word === 'title') this.group.destination = 'title';
    else if (word === 'field' && this.group.destination === 'text')
      Object.assign(this.group, { holds: 'field', field: { instruction: '', hasResult: false } });
    else if (word === 'fldinst') this.group.destination = this.group.destination === 'text' && this.group.field ? 'instruction' : 'none';
    else if ((this.isOptional && !shownOptionalGroups.has(word)) || skippedGroups.has(word)) this.skipGroup(word);
    else if (word in besideGroups && this.group.destination === 'text') this.openBeside(besideGroups[word]);
    else if (destinations[word] !== undefined && this.group.destination === 'text') this.group.destination = destinations[word];
    else this.format(word, number);
    if (word !== '*') this.isOptional = false;
  }

  /** The code pages of text that was read as Western, because their letters are not known. */
  get pagesNotKnown(): number[] {
    return [...this.unknownPages];
  }

  /** Writes the last paragraph, which no `\par` or `\row` has ended. */
  end(): void {
    this.flushBytes();
    const { isInTable, pieces, cells } = this.line;
    if (isInTable && (cells.length > 0 || pieces.join('').trim() !== '')) {
      this.endCell();
      this.endRow();
    } else this.endParagraph();
  }

  /** A picture may stand there twice, for programs of different age. */
  private skipGroup(word: string): void {
    if ((word === 'pict' || word === 'shppict') && this.group.destination === 'text') {
      this.group.holds = 'picture';
      this.isPictureDescribed = false;
    } else if (word === 'sp') {
      this.group.holds = 'property';
      this.property = { name: '', value: '' };
    }
    if (word === 'annotation' && this.group.destination === 'text') this.warnings.add('comments_left_out');
    this.group.destination = 'none';
  }

  private sayProperty(): void {
    const { name, value } = this.property;
    if (!saidProperties.has(name.trim()) || value.trim() === '') return;
    this.isPictureDescribed = true;
    if (this.group.isHidden) this.line.hasHidden = true;
    if (this.group.isHidden || this.group.isDeleted) return;
    this.line.pieces.push(` ${value} `);
    this.line.isAllBold = false;
  }

  private openBeside(place: RichTextPlace = this.group.place): void {
    this.group.place = place;
    this.group.beside ??= this.line;
    this.line = newLine();
  }

  private format(word: string, number: number | undefined): void {
    const { group } = this;
    if (word === 'ansicpg') this.documentPage = group.page = number ?? 1252;
    else if (word === 'mac') this.documentPage = group.page = 10_000;
    else if (word === 'f' && group.destination === 'fonts') [this.font, this.fontName] = [number ?? 0, ''];
    else if (word === 'fcharset' && group.destination === 'fonts')
      this.fontPages.set(this.font, codePageOf(number ?? 0) ?? this.documentPage);
    else if (word === 'f') this.setFont(number ?? 0);
    else if (word === 'uc') group.skip = number ?? 1;
    else if (word === 's') this.setStyle(number ?? 0);
    else if (word === 'b') group.isBold = number !== 0;
    else if (word === 'v') group.isHidden = number !== 0;
    else if (word === 'deleted') group.isDeleted = number !== 0;
    else if (word === 'super' || (word === 'up' && number !== undefined && number > 0)) group.raised = '^';
    else if (word === 'sub' || (word === 'dn' && number !== undefined && number > 0)) group.raised = '_';
    else if (word === 'nosupersub' || word === 'up' || word === 'dn') group.raised = '';
    else if (word === 'plain')
      Object.assign(group, { isBold: false, isHidden: false, isDeleted: false, raised: '', page: this.documentPage, font: '' });
    else if (word === 'outlinelevel' && number !== undefined && number < 9 && group.destination === 'text') this.line.level = number + 1;
    else if (word === 'pard') [this.line.level, this.line.isInTable] = [0, false];
    else if (word === 'intbl') this.line.isInTable = true;
    else if (word === 'par' || word === 'sect' || word === 'page') this.endParagraph();
    else if (word === 'cell' || word === 'nestcell') this.endCell();
    else if (word === 'row') this.endRow();
    else if (symbolCharacters[word] !== undefined) this.write(symbolCharacters[word]);
  }

  private setFont(number: number): void {
    this.group.page = this.fontPages.get(number) ?? this.documentPage;
    this.group.font = this.fontNames.get(number) ?? '';
  }

  private setStyle(number: number): void {
    this.style = number;
    if (this.group.destination === 'text') this.line.level = this.styleLevels.get(number) ?? 0;
  }

  /** Decodes the collected bytes before their code page can change. */
  private flushBytes(): void {
    if (this.pending.length === 0) return;
    const { page, font } = this.group;
    if (isSymbolFont(font)) {
      const codes = this.pending.map((byte) => String.fromCharCode(byte)).join('');
      this.pending = [];
      return this.write(codes);
    }
    if (!isKnownCodePage(page) && this.pending.some((byte) => byte >= 0x80)) this.unknownPages.add(page);
    const text = decodeCodePage(Uint8Array.from(this.pending), page);
    this.pending = [];
    this.write(text);
  }

  private write(text: string): void {
    const { destination, isHidden, isDeleted, isBold, raised } = this.group;
    const { line } = this;
    if (destination === 'title') this.title += text;
    else if (destination === 'mark') line.mark = (line.mark ?? '') + this.showSymbols(text);
    else if (destination === 'fonts') this.readFontName(text);
    else if (destination === 'styles') this.readStyleName(text);
    else if (destination === 'propertyName') this.property.name += text.slice(0, maxPropertyLength - this.property.name.length);
    else if (destination === 'propertyValue') this.property.value += text.slice(0, maxPropertyLength - this.property.value.length);
    else if (destination === 'instruction') this.addInstruction(text);
    else if (destination === 'text' && isHidden && !isDeleted) line.hasHidden ||= text.trim() !== '';
    else if (destination === 'text' && !isHidden && !isDeleted) {
      const shown = this.showSymbols(text);
      if (this.group.field && shown.trim() !== '') this.group.field.hasResult = true;
      line.pieces.push(raisedSign(line.pieces.at(-1) ?? '', raised, shown) + shown);
      if (!isBold && text.trim() !== '') line.isAllBold = false;
    }
  }

  private addInstruction(text: string): void {
    const { field } = this.group;
    if (field && field.instruction.length < maxInstructionLength) field.instruction += text;
  }

  /** A text that is no longer in the signs of its font. */
  private writeShown(text: string): void {
    const { destination, isHidden, isDeleted } = this.group;
    if (text === '' || destination !== 'text' || isHidden || isDeleted) return;
    this.line.pieces.push(text);
    this.line.isAllBold = false;
  }

  private showSymbols(text: string): string {
    return showSymbols(text, this.group.font, (font) => this.warnings.add('symbols_unread', { font }));
  }

  /** A font's entry ends with its name and a semicolon. */
  private readFontName(text: string): void {
    if (this.fontName.length < maxFontNameLength) this.fontName += text;
    if (!text.includes(';')) return;
    this.fontNames.set(this.font, this.fontName.replace(/;[^]*/, '').trim());
    this.fontName = '';
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
    if (this.line.isInTable) {
      this.line.pieces.push(' ');
      return;
    }
    if (this.group.destination !== 'text') return;
    const { pieces, level, isAllBold, mark } = this.line;
    this.report({ text: pieces.join(''), level, isBold: isAllBold, mark });
    this.startParagraph();
  }

  private endCell(): void {
    this.line.cells.push(`${this.line.mark ?? ''} ${this.line.pieces.join('')}`);
    this.startParagraph();
  }

  private endRow(): void {
    const { cells } = this.line;
    if (cells.length > 0) this.report({ text: '', level: 0, isBold: false, mark: undefined, row: cells });
    this.line.cells = [];
    this.startParagraph();
  }

  private report(paragraph: Omit<RichTextParagraph, 'place'>): void {
    this.onParagraph({ ...paragraph, place: this.group.place });
  }

  private startParagraph(): void {
    if (this.line.hasHidden) this.warnings.add('hidden_left_out');
    Object.assign(this.line, { pieces: [], mark: undefined, isAllBold: true, hasHidden: false });
  }
}
