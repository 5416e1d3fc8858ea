import { showSymbols } from '../office-files/symbol-fonts.ts';
import { raisedSign, type Raised } from '../text/raised-digits.ts';
import { unescapeText } from './unescape-text.ts';

/** Collects the text of a cell or shared text, which may have runs of different form. Readings above the signs are left out. */
export class CellText {
  private text = '';
  private lastPiece = '';
  private raised: Raised = '';
  private isInText = false;
  private isInReading = false;
  /** Of the current run, whose properties come before its text. */
  private font = '';
  private ownFonts = false;
  private readonly onUnreadSymbol: (font: string) => void;

  constructor(onUnreadSymbol: (font: string) => void) {
    this.onUnreadSymbol = onUnreadSymbol;
  }

  start(): void {
    this.text = '';
    this.lastPiece = '';
    this.isInText = false;
    [this.font, this.ownFonts] = ['', false];
  }

  open(name: string, attributes: Record<string, string>): void {
    if (name === 'rPh') this.isInReading = true;
    else if (name === 'r') [this.raised, this.font] = ['', ''];
    else if (name === 'rFont') [this.font, this.ownFonts] = [attributes['val'] ?? '', true];
    else if (name === 'vertAlign') this.raised = raisedByName[attributes['val'] ?? ''] ?? '';
    else if (name === 't' || name === 'v') this.isInText = !this.isInReading;
  }

  add(piece: string): void {
    if (!this.isInText) return;
    const shown = this.font === '' ? piece : showSymbols(piece, this.font, this.onUnreadSymbol);
    this.text += raisedSign(this.lastPiece, this.raised, shown) + shown;
    this.lastPiece = shown;
    this.raised = '';
  }

  close(name: string): void {
    if (name === 't' || name === 'v') this.isInText = false;
    else if (name === 'rPh') this.isInReading = false;
  }

  /** Whether the text names fonts, beside that of its cell. */
  get hasOwnFonts(): boolean {
    return this.ownFonts;
  }

  get raw(): string {
    return this.text;
  }

  /** The text with its escapes resolved. */
  get shown(): string {
    return unescapeText(this.text);
  }
}

const raisedByName: Record<string, Raised> = { superscript: '^', subscript: '_' };
