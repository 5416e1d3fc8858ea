import type { BlockWriter } from '../block-writer.ts';
import { cleanLine } from '../clean-text.ts';

/** In characters. Longer paragraphs are split; longer names are cut, because every value below repeats its name. */
const maxParagraphLength = 1 << 16;
const maxNameLength = 1000;
const maxNamesInHeading = 5;

interface Level {
  isArray: boolean;
  /** The name of the current property, or the position in an array, from 1. */
  key: string;
  index: number;
  /** Whether the items of this array form a list. */
  startsRecord: boolean;
  isEmpty: boolean;
}

/**
 * Turns a stream of JSON into text. A property of the outermost object with more than one value becomes a heading; plain properties behind it have a heading of
 * their names, since they are no part of it. An object in an array
 * becomes a paragraph with a line for each value, `customer.name: Ada`; plain values of an array share one line. A name without a value, such as null, has a line
 * of its own, too: `sunday:`.
 */
export class JsonOutline {
  private readonly writer: BlockWriter;
  private readonly levels: Level[] = [];
  private lines: string[] = [];
  private length = 0;
  /** The level at which the record begins; -1: outside a record. */
  private recordLevel = -1;
  private lastLabel: string | undefined;
  private hasHeading = false;
  /** The names of the plain properties of the outermost object that stand behind a heading, as far as they are not written. */
  private names: string[] = [];
  /** A string that is a property name if a colon follows. */
  private pendingString: string | undefined;

  constructor(writer: BlockWriter) {
    this.writer = writer;
  }

  open(isArray: boolean): void {
    this.flushPendingString();
    const parent = this.levels.at(-1);
    if (parent?.isArray) parent.index += 1;
    if (parent) parent.isEmpty = false;
    const startsRecord = !isArray && (parent?.isArray ?? false) && this.recordLevel === -1;
    if (startsRecord) {
      this.flush();
      this.recordLevel = this.levels.length;
    }
    if (this.levels.length === 1 && parent && !parent.isArray) {
      this.flush();
      this.writer.heading(1, parent.key);
      this.hasHeading = true;
    }
    this.levels.push({ isArray, key: '', index: 0, startsRecord, isEmpty: true });
  }

  close(): void {
    this.flushPendingString();
    const closed = this.levels.pop();
    if (closed?.startsRecord) this.recordLevel = -1;
    // The heading of a section stands for its name.
    if (closed?.isEmpty && this.levels.length > 1 && !this.levels.at(-1)!.isArray) this.addValue('');
    if (closed?.startsRecord || this.levels.length <= 1) this.flush();
  }

  colon(): void {
    const object = this.levels.at(-1);
    if (object) object.key = (this.pendingString ?? '').slice(0, maxNameLength);
    this.pendingString = undefined;
  }

  value(text: string): void {
    this.flushPendingString();
    this.pendingString = text;
  }

  end(): void {
    this.flushPendingString();
    this.flush();
  }

  /** The held string is a value and not a name. */
  private flushPendingString(): void {
    if (this.pendingString === undefined) return;
    const text = cleanLine(this.pendingString);
    this.pendingString = undefined;
    this.addValue(text);
  }

  private addValue(text: string): void {
    const parent = this.levels.at(-1);
    if (parent) parent.isEmpty = false;
    const label = this.toLabel();
    if (!parent) return this.writer.paragraph(text);
    if (label === '' && parent.isArray) {
      this.flush();
      return this.writer.listItem(text);
    }
    if (this.hasHeading && this.levels.length === 1 && !parent.isArray && label !== '') this.names.push(label);
    // A value of the same array, which keeps its place even without a text.
    if (parent.isArray && label === this.lastLabel) this.lines[this.lines.length - 1] += `, ${text}`;
    else this.lines.push(label === '' ? text : `${label}: ${text}`);
    this.lastLabel = label;
    this.length += label.length + text.length;
    if (this.length > maxParagraphLength) this.flush();
  }

  /** The path of names to the value within its record: below the section's heading, or within the object of an array. */
  private toLabel(): string {
    const from = this.recordLevel !== -1 ? this.recordLevel : this.levels[0]?.isArray === false && this.levels.length > 1 ? 1 : 0;
    return this.levels
      .slice(from)
      .flatMap((level, place, shown) =>
        level.isArray ? (place < shown.length - 1 ? [String(level.index)] : []) : level.key.trim() === '' ? [] : [level.key],
      )
      .join('.');
  }

  private flush(): void {
    if (this.names.length > 0)
      this.writer.heading(1, this.names.slice(0, maxNamesInHeading).join(', ') + (this.names.length > maxNamesInHeading ? ', ...' : ''));
    this.names = [];
    if (this.lines.length > 0) this.writer.paragraph(this.lines.join('\n'));
    this.lines = [];
    this.length = 0;
    this.lastLabel = undefined;
  }
}
