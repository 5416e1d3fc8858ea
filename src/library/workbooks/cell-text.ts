import { raisedSign, type Raised } from '../text/raised-digits.ts';
import { unescapeText } from './unescape-text.ts';

/** Collects the text of a cell or shared text, which may have runs of different form. Readings above the signs are left out. */
export class CellText {
  private text = '';
  private lastPiece = '';
  private raised: Raised = '';
  private isInText = false;
  private isInReading = false;

  start(): void {
    this.text = '';
    this.lastPiece = '';
    this.isInText = false;
  }

  open(name: string, attributes: Record<string, string>): void {
    if (name === 'rPh') this.isInReading = true;
    else if (name === 'r') this.raised = '';
    else if (name === 'vertAlign') this.raised = raisedByName[attributes['val'] ?? ''] ?? '';
    else if (name === 't' || name === 'v') this.isInText = !this.isInReading;
  }

  add(piece: string): void {
    if (!this.isInText) return;
    this.text += raisedSign(this.lastPiece, this.raised, piece) + piece;
    this.lastPiece = piece;
    this.raised = '';
  }

  close(name: string): void {
    if (name === 't' || name === 'v') this.isInText = false;
    else if (name === 'rPh') this.isInReading = false;
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
