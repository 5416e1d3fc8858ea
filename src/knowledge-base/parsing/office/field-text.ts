import { findSymbol } from '../../../library/office-files/symbol-fonts.ts';
import { above, below, group } from '../formula-signs.ts';

/** Longer instructions are no formula that somebody typed. */
export const maxInstructionLength = 1 << 14;
const maxDepth = 50;
const circle = /^[○◯〇●]$/u;

/** What a reader is told of fields. */
export interface FieldFacts {
  /** The font of a symbol that Unicode lacks. */
  onUnreadSymbol(font: string): void;
  /** A field shows a text that the file does not store and that cannot be computed from its instruction. */
  onUnsolvedField(): void;
}

/** Fields that show nothing, or only what stands in the document anyway: page numbers, marks for indexes, tables of contents, empty forms. */
const fieldsWithoutOwnText = new Set(
  (
    'PAGE NUMPAGES SECTION SECTIONPAGES PAGEREF TOC TOA INDEX XE TC TA RD SET ASK PRIVATE ADVANCE PRINT NEXT NEXTIF SKIPIF HYPERLINK FORMTEXT ' +
    'FORMCHECKBOX FORMDROPDOWN SHAPE EMBED CONTROL HTMLACTIVEX BIDIOUTLINE'
  ).split(' '),
);

/**
 * The text of a field without a stored result that Word computes from its instruction alone: EQ, SYMBOL, QUOTE and buttons (ISO/IEC 29500-1, 17.16.5). Empty for
 * other fields, of which those that would show a text of their own are told.
 */
export function computeField(instruction: string, facts: FieldFacts): string {
  const [, name = '', rest = ''] = /^\s*(=|[a-z]+(?![a-z]))([\s\S]*)$/i.exec(instruction.slice(0, maxInstructionLength)) ?? [];
  const kind = name.toUpperCase();
  // How a result would be formatted: `\* MERGEFORMAT`.
  if (kind === 'EQ') return new EquationReader(rest.replace(/\\\*\s*\w+/g, '')).read();
  if (kind === 'QUOTE') return /"([^"]*)"/.exec(rest)?.[1] ?? '';
  if (kind === 'SYMBOL') return readSymbol(rest, facts);
  if (kind === 'MACROBUTTON' || kind === 'GOTOBUTTON') return rest.replace(/^\s*\S+\s*/, '').trim();
  if (kind !== '' && !fieldsWithoutOwnText.has(kind)) facts.onUnsolvedField();
  return '';
}

function readSymbol(rest: string, facts: FieldFacts): string {
  const [, hex, decimal, letter] = /^\s*(?:0x([\da-f]+)|(\d+)|"?(\S))/i.exec(rest) ?? [];
  const code = hex !== undefined ? parseInt(hex, 16) : decimal !== undefined ? Number(decimal) : (letter?.codePointAt(0) ?? 0);
  const font = /\\f\s*(?:"([^"]*)"|(\S+))/i.exec(rest);
  const typeface = font?.[1] ?? font?.[2] ?? 'Symbol';
  const shown = findSymbol(typeface, code);
  if (shown === null) facts.onUnreadSymbol(typeface);
  return shown ?? '';
}

/** Reads the instruction of an EQ field: switches such as `\f(1,2)`, whose arguments may hold others. */
class EquationReader {
  private readonly text: string;
  private place = 0;
  private depth = 0;

  constructor(text: string) {
    this.text = text;
  }

  read(): string {
    return this.readUntil('').replace(/\s+/g, ' ').trim();
  }

  private readUntil(ends: string): string {
    let shown = '';
    while (this.place < this.text.length && !ends.includes(this.text.charAt(this.place))) {
      const sign = this.text.charAt(this.place);
      this.place += 1;
      if (sign !== '\\') shown += sign;
      else if (/[a-z]/i.test(this.text.charAt(this.place))) shown += this.readSwitch();
      else {
        shown += this.text.charAt(this.place);
        this.place += 1;
      }
    }
    return shown;
  }

  /** The switch behind a backslash, with its options. */
  private readSwitch(): string {
    const options = /([a-z]+)(?:-?\d+)?\s*/iy;
    options.lastIndex = this.place;
    const [whole = '', name = ''] = options.exec(this.text) ?? [];
    this.place += whole.length;
    const names = [name.toLowerCase()];
    const next = /\\([a-z]+)(-?\d+)?\s*/iy;
    for (next.lastIndex = this.place; ; next.lastIndex = this.place) {
      const option = this.text.charAt(this.place) === '\\' ? next.exec(this.text) : null;
      if (option === null) break;
      this.place += option[0].length;
      names.push(option[1]!.toLowerCase());
      // The sign that a bracket has instead of a round one.
      if (/^[lrb]c$/.test(option[1]!) && this.text.charAt(this.place) === '\\') this.place += 2;
    }
    return this.text.charAt(this.place) === '(' ? show(names, this.readArguments()) : '';
  }

  private readArguments(): string[] {
    const values: string[] = [];
    this.depth += 1;
    do {
      this.place += 1;
      values.push(this.depth > maxDepth ? '' : this.readArgument());
    } while (/[,;]/.test(this.text.charAt(this.place)));
    this.place += 1;
    this.depth -= 1;
    return values;
  }

  /** Brackets that somebody typed within an argument hold commas of their own. */
  private readArgument(): string {
    let shown = this.readUntil(',;()');
    while (this.text.charAt(this.place) === '(' && this.depth <= maxDepth) {
      this.depth += 1;
      this.place += 1;
      shown += `(${this.readUntil('()')}`;
      if (this.text.charAt(this.place) === ')') this.place += 1;
      this.depth -= 1;
      shown += `)${this.readUntil(',;()')}`;
    }
    return shown.trim();
  }
}

function show([name = '', ...options]: string[], values: string[]): string {
  const [first = '', second = '', third = ''] = values;
  if (name === 'f') return `${group(first)}/${group(second)}`;
  if (name === 'r') return values.length > 1 ? `${first === '' ? '' : `${first}`}√${group(second)}` : `√${group(first)}`;
  if (name === 's') return options.includes('do') ? below(first) : values.length > 1 ? above(first) + below(second) : above(first);
  if (name === 'i') return `${options.includes('su') ? '∑' : options.includes('pr') ? '∏' : '∫'}${below(first)}${above(second)} ${third}`;
  if (name === 'o') return overstrike(values);
  if (name === 'b') return `(${first})`;
  if (name === 'd') return ' ';
  return values.join(', ');
}

/** A number in a circle is one sign. */
function overstrike(values: string[]): string {
  const inside = values.filter((value) => !circle.test(value));
  const number = Number(inside[0]);
  if (inside.length !== 1 || inside.length === values.length || !Number.isInteger(number)) return values.join('');
  return number >= 1 && number <= 20 ? String.fromCodePoint(0x245f + number) : `(${number})`;
}
