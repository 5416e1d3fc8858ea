import { Parser } from 'htmlparser2';
import { findSymbol, showSymbols } from '../../../library/office-files/symbol-fonts.ts';
import { maxElementDepth } from '../../../library/office-files/limits.ts';
import { tooLarge } from '../../../library/text/unparsable-document.ts';
import { computeField, maxInstructionLength, type FieldFacts } from './field-text.ts';
import { MathText } from './math-text.ts';
import { findFont, isOn } from './word-styles.ts';
import type { WordStyles } from './word-styles.ts';
import type { WordNumbering } from './word-numbering.ts';
import { WordPictures } from './word-pictures.ts';
import { escapeXml, toOpeningTag, toTextTag } from './xml-text.ts';

/**
 * `insets`: WordprocessingML of charts and diagrams by their relationship. `count`: called for each text that is left out; `onDescribedImage`: for the
 * relationship of each picture that a text describes.
 */
export interface WordFacts extends FieldFacts {
  styles: WordStyles;
  numbering: WordNumbering | undefined;
  insets: Map<string, string>;
  count(what: 'hidden_left_out' | 'readings_left_out'): void;
  onDescribedImage(relationship: string): void;
}

/** Their contents are read, and they are not. */
const unwrapped = new Set([
  'mc:AlternateContent',
  'mc:Choice',
  'mc:Fallback',
  'm:oMathPara',
  'w:ruby',
  'w:rubyBase',
  'w:fldSimple',
  'w:bdo',
  'w:dir',
]);
/** What the library does not know, by what it knows of the same effect. */
const renamed: Record<string, string> = {
  'w:ptab': 'w:tab',
  'w:cr': 'w:br',
};
/** Pictures, shapes and embedded objects, of which the boxes of text and the descriptions are read. */
const drawings = new Set(['w:drawing', 'w:pict', 'w:object']);
const skipped = new Set(['w:rubyPr', 'w:moveFrom', 'w:pPrChange', 'w:rPrChange', 'w:numberingChange', 'w:sectPr']);
const maxSkippedColumns = 63;
const checked = '\u2611';
const unchecked = '\u2610';

interface Paragraph {
  style: string | undefined;
  list: string | undefined;
  level: number | undefined;
  isMarkHidden: boolean;
}

/** How many columns of the table lie before the first cell of a row, and after its last. */
interface Row {
  before: number;
  after: number;
}

interface Run {
  isHidden: boolean;
  isCounted: boolean;
  font: string | undefined;
}

/** A box or a list to choose from, as `ffData` or `sdtPr` describes it. */
interface Field {
  isChecked: boolean | undefined;
  choices: string[];
  choice: number;
  isShown: boolean;
}

/** A field between its marks. `hasResult`: the file stores what it shows. */
interface ComputedField {
  instruction: string;
  isSeparated: boolean;
  hasResult: boolean;
}

const newField = (): Field => ({ isChecked: undefined, choices: [], choice: 0, isShown: false });

/**
 * Writes in a document of Word as text what Word computes: numbers of lists, formulas, boxes, choices, charts. Leaves out what is not shown, and what is
 * there twice.
 */
class WordTextWriter {
  private readonly facts: WordFacts;
  private readonly parser: Parser;
  private output: string[] = [];
  /** The open elements, with what closes them. */
  private readonly elements: { name: string; end: string }[] = [];
  private skippedDepth = 0;
  private math: { reader: MathText; depth: number } | undefined;
  private isOpening = false;
  private readonly paragraphs: Paragraph[] = [];
  private readonly runs: Run[] = [];
  private readonly rows: Row[] = [];
  private readonly alternatives: { isTaken: boolean }[] = [];
  private readonly controls: Field[] = [];
  /** Of the last mark of a field. */
  private form: Field | undefined;
  private isInForm = false;
  private readonly fields: ComputedField[] = [];
  /** The mark that is read ends a field. */
  private hasFieldEnded = false;
  private controlProperties = 0;
  private drawings = 0;
  private readonly pictures: WordPictures;

  constructor(facts: WordFacts) {
    this.facts = facts;
    this.pictures = new WordPictures(facts);
    this.parser = new Parser(
      {
        onopentag: (name, attributes) => this.open(name, attributes),
        ontext: (text) => this.text(text),
        onclosetag: () => this.close(),
      },
      { xmlMode: true },
    );
  }

  write(piece: string): string {
    this.parser.write(piece);
    return this.take();
  }

  end(): string {
    this.parser.end();
    return this.take();
  }

  private take(): string {
    const text = this.output.join('');
    this.output = [];
    return text;
  }

  private emit(text: string): void {
    if (this.isOpening) this.output.push('>');
    this.isOpening = false;
    this.output.push(text);
  }

  private open(name: string, attributes: Record<string, string>): void {
    if (this.elements.length + this.skippedDepth >= maxElementDepth)
      throw tooLarge(`its elements lie more than ${maxElementDepth} deep in each other`, 'save it in a simpler form');
    if (this.math) {
      this.math.depth += 1;
      this.elements.push({ name, end: '' });
      this.math.reader.open(withoutPrefix(name), attributes);
    } else if (this.skippedDepth > 0 || this.isSkipped(name)) {
      this.skippedDepth += 1;
    } else this.openShown(name, attributes);
  }

  private isSkipped(name: string): boolean {
    const around = this.elements.at(-1)?.name;
    if (skipped.has(name)) return true;
    if (name === 'w:rt') {
      this.facts.count('readings_left_out');
      return true;
    }
    if (name === 'w:del') return around !== 'w:rPr' && around !== 'w:trPr';
    const alternative = this.alternatives.at(-1);
    if (around === 'mc:AlternateContent' && alternative) {
      const isTaken = alternative.isTaken;
      alternative.isTaken = true;
      return isTaken;
    }
    const run = around === 'w:r' ? this.runs.at(-1) : undefined;
    return run !== undefined && name !== 'w:rPr' && this.isHiddenInRun(run, name);
  }

  /** The marks of a field stay, because they come in pairs. */
  private isHiddenInRun(run: Run, name: string): boolean {
    if (!run.isHidden || name === 'w:fldChar' || name === 'w:instrText') return false;
    if (!run.isCounted && (name === 'w:t' || name === 'w:sym')) this.facts.count('hidden_left_out');
    run.isCounted ||= name === 'w:t' || name === 'w:sym';
    return true;
  }

  private openShown(name: string, attributes: Record<string, string>): void {
    const local = withoutPrefix(name);
    if (name === 'm:oMath') {
      this.math = { reader: new MathText(), depth: 0 };
      this.elements.push({ name, end: '' });
      return;
    }
    if (name === 'mc:AlternateContent') this.alternatives.push({ isTaken: false });
    else if (drawings.has(name)) this.openDrawing();
    else if (name === 'w:p') this.paragraphs.push({ style: undefined, list: undefined, level: undefined, isMarkHidden: false });
    else if (name === 'w:r') this.openRun();
    else if (name === 'w:sdt') this.controls.push(newField());
    else if (name === 'w:sdtPr') this.controlProperties += 1;
    else if (name === 'w:ffData') {
      this.form = newField();
      this.isInForm = true;
    }
    if (name === 'w:fldChar') this.readFieldMark(attributes['w:fldCharType']);
    else if (name === 'w:fldSimple') this.fields.push({ instruction: attributes['w:instr'] ?? '', isSeparated: true, hasResult: false });
    this.readProperty(name, local, attributes);
    if (this.drawings > 0) this.emitInline(this.pictures.open(local, attributes));
    if (local === 'chart' || local === 'relIds') this.emitInset(attributes['r:id'] ?? attributes['r:dm']);
    if (name === 'w:t' || name === 'w:sym') {
      const control = this.controls.at(-1);
      if (control?.isChecked !== undefined) {
        this.showBox(control);
        this.elements.push({ name: 'box', end: '' });
        return;
      }
    }
    if (name === 'w:sym') {
      this.emitSymbol(attributes);
      this.elements.push({ name, end: '' });
      return;
    }
    if (name === 'w:txbxContent' && this.drawings > 0) {
      this.emit('<w:pict><w:txbxContent>');
      this.elements.push({ name, end: '</w:txbxContent></w:pict>' });
      return;
    }
    if (name === 'w:tr') this.rows.push({ before: 0, after: 0 });
    if (!this.isWritten(name)) this.elements.push({ name, end: '' });
    else {
      const shown = renamed[name] ?? name;
      // The library leaves out breaks of pages and columns, which keep words apart.
      this.emit(toOpeningTag(shown, shown === 'w:br' ? {} : attributes).slice(0, -1));
      this.isOpening = true;
      this.elements.push({ name, end: `</${shown}>` });
    }
  }

  private isWritten(name: string): boolean {
    if (unwrapped.has(name) || this.isInForm || this.controlProperties > 0) return false;
    if (this.drawings > 0 && (drawings.has(name) || !name.startsWith('w:'))) return false;
    return name !== 'w:numPr' && this.elements.at(-1)?.name !== 'w:numPr';
  }

  private readProperty(name: string, local: string, attributes: Record<string, string>): void {
    const around = this.elements.at(-1)?.name;
    const value = attributes['w:val'];
    const paragraph = this.paragraphs.at(-1);
    const isMark = around === 'w:rPr' && this.elements.at(-2)?.name === 'w:pPr';
    if (paragraph && around === 'w:pPr' && name === 'w:pStyle') paragraph.style = value;
    else if (paragraph && name === 'w:numId' && around === 'w:numPr') paragraph.list = value;
    else if (paragraph && name === 'w:ilvl' && around === 'w:numPr') paragraph.level = Number(value) || 0;
    else if (paragraph && isMark) paragraph.isMarkHidden ||= (name === 'w:vanish' && isOn(attributes)) || name === 'w:del';
    else if (around === 'w:rPr') this.readRunProperty(name, attributes);
    else if (around === 'w:trPr') this.readRowProperty(name, value);
    else this.readFieldProperty(local, attributes);
  }

  private readRowProperty(name: string, value: string | undefined): void {
    const row = this.rows.at(-1);
    const columns = Math.min(Math.max(Number(value) || 0, 0), maxSkippedColumns);
    if (row && name === 'w:gridBefore') row.before = columns;
    else if (row && name === 'w:gridAfter') row.after = columns;
  }

  /** The library knows no columns without a cell. */
  private emitSkippedColumns(count: number | undefined): void {
    for (let column = 0; column < (count ?? 0); column += 1) this.emit('<w:tc><w:p/></w:tc>');
  }

  private readRunProperty(name: string, attributes: Record<string, string>): void {
    const run = this.runs.at(-1);
    if (!run) return;
    if (name === 'w:rStyle') {
      run.isHidden ||= this.facts.styles.isHidden(attributes['w:val']);
      run.font = this.facts.styles.fontOf(attributes['w:val']) ?? run.font;
    } else if (name === 'w:rFonts') run.font = findFont(attributes) ?? run.font;
    else if (name === 'w:vanish') run.isHidden = isOn(attributes);
  }

  private readFieldProperty(local: string, attributes: Record<string, string>): void {
    const isInControl = this.controlProperties > 0;
    const field = isInControl ? this.controls.at(-1) : this.form;
    if (!field || (!isInControl && !this.isInForm)) return;
    const value = attributes['w:val'] ?? attributes['w14:val'] ?? '1';
    const isBox = field.isChecked !== undefined;
    if (local === 'checkbox' || local === 'checkBox') field.isChecked = false;
    else if (isBox && (local === 'default' || local === 'checked')) field.isChecked = isOn({ 'w:val': value });
    else if (!isInControl && local === 'listEntry') field.choices.push(value);
    else if (!isInControl && !isBox && (local === 'result' || local === 'default')) field.choice = Number(value) || 0;
  }

  private openRun(): void {
    const style = this.paragraphs.at(-1)?.style;
    const { styles } = this.facts;
    this.runs.push({ isHidden: styles.isHidden(style), isCounted: false, font: styles.fontOf(style) });
  }

  private openDrawing(): void {
    this.pictures.begin();
    this.drawings += 1;
  }

  /** A text between the others, apart from them. */
  private emitInline(text: string): void {
    if (text !== '') this.emit(toTextTag(` ${text} `));
  }

  private emitSymbol(attributes: Record<string, string>): void {
    this.noteFieldText('w:t', 'symbol');
    const font = attributes['w:font'] ?? '';
    const shown = findSymbol(font, parseInt(attributes['w:char'] ?? '', 16));
    if (shown === null) this.facts.onUnreadSymbol(font);
    else this.emit(toTextTag(shown));
  }

  private emitInset(id: string | undefined): void {
    const inset = this.facts.insets.get(id ?? '');
    // Once, since a small file may name a large chart often.
    this.facts.insets.delete(id ?? '');
    if (inset !== undefined) this.emit(`<w:pict><w:txbxContent>${inset}</w:txbxContent></w:pict>`);
  }

  private showBox(field: Field): void {
    if (!field.isShown) this.emit(toTextTag(field.isChecked ? checked : unchecked));
    field.isShown = true;
  }

  private readFieldMark(type: string | undefined): void {
    const field = this.fields.at(-1);
    if (type === 'begin') this.fields.push({ instruction: '', isSeparated: false, hasResult: false });
    else if (type === 'separate' && field) field.isSeparated = true;
    else if (type === 'end') this.hasFieldEnded = true;
  }

  /** The text of a field that ends, as far as the file does not store it. */
  private takeFieldText(): string {
    const field = this.fields.pop();
    if (!field || field.hasResult) return '';
    const text = computeField(field.instruction, this.facts);
    const around = this.fields.at(-1);
    if (!around || around.isSeparated) return text;
    // Within the instruction of another field.
    around.instruction += text;
    return '';
  }

  private noteFieldText(name: string | undefined, text: string): void {
    const field = this.fields.at(-1);
    if (!field) return;
    if (
      name === 'w:instrText' &&
      !field.isSeparated &&
      this.runs.at(-1)?.isHidden !== true &&
      field.instruction.length < maxInstructionLength
    )
      field.instruction += text;
    else if (name === 'w:t' && field.isSeparated && text.trim() !== '') for (const open of this.fields) open.hasResult ||= open.isSeparated;
  }

  private text(text: string): void {
    if (this.math) return this.math.reader.text(text);
    if (this.skippedDepth > 0) return;
    const element = this.elements.at(-1);
    this.noteFieldText(element?.name, text);
    if (element?.name === 'w:t' && element.end !== '') this.emit(escapeXml(this.showRunText(text)));
    else if (element?.name === 'a:t') this.emit(toTextTag(text));
    else if (element && element.end !== '') this.emit(escapeXml(text));
  }

  private showRunText(text: string): string {
    return showSymbols(text, this.runs.at(-1)?.font ?? '', (font) => this.facts.onUnreadSymbol(font));
  }

  private close(): void {
    if (this.skippedDepth > 0) {
      this.skippedDepth -= 1;
      return;
    }
    const element = this.elements.pop();
    if (!element) return;
    if (this.math && this.math.depth > 0) {
      this.math.depth -= 1;
      this.math.reader.close(withoutPrefix(element.name));
      return;
    }
    this.closeShown(element.name, element.end);
  }

  private closeShown(name: string, end: string): void {
    if (this.math) {
      const isDisplayed = this.elements.at(-1)?.name === 'm:oMathPara';
      this.emit(`<w:r>${toTextTag(this.math.reader.end() + (isDisplayed ? ' ' : ''))}</w:r>`);
      this.math = undefined;
      return;
    }
    const paragraph = name === 'w:pPr' && this.elements.at(-1)?.name === 'w:p' ? this.paragraphs.at(-1) : undefined;
    const numbered = paragraph && !paragraph.isMarkHidden ? this.facts.numbering?.next(paragraph.style, paragraph) : undefined;
    const control = name === 'w:sdtContent' ? this.controls.at(-1) : undefined;
    if (control?.isChecked !== undefined && !control.isShown) this.emit(`<w:r>${toTextTag(control.isChecked ? checked : unchecked)}</w:r>`);
    if (name === 'w:tr') this.emitSkippedColumns(this.rows.at(-1)?.after);
    if (numbered) this.emit(`<w:numPr><w:ilvl w:val="${numbered.level}"/><w:numId w:val="${escapeXml(numbered.list)}"/></w:numPr>`);
    this.emitEnd(end);
    if (name === 'w:fldSimple') {
      const text = this.takeFieldText();
      if (text !== '') this.emit(`<w:r>${toTextTag(text)}</w:r>`);
    }
    if (name === 'w:trPr') this.emitSkippedColumns(this.rows.at(-1)?.before);
    // Bold, so that a bold paragraph stays one.
    if (numbered && numbered.label !== '') this.emit(`<w:r><w:rPr><w:b/></w:rPr>${toTextTag(numbered.label)}</w:r>`);
    this.closeState(name);
  }

  private emitEnd(end: string): void {
    if (end === '') return;
    if (this.isOpening) this.output.push('/>');
    else this.output.push(end);
    this.isOpening = false;
  }

  private closeState(name: string): void {
    if (this.drawings > 0) this.pictures.close(withoutPrefix(name));
    if (name === 'mc:AlternateContent') this.alternatives.pop();
    else if (drawings.has(name)) this.drawings -= 1;
    else if (name === 'a:p') this.emitInline('\n');
    else if (name === 'w:p') this.paragraphs.pop();
    else if (name === 'w:r') this.runs.pop();
    else if (name === 'w:tr') this.rows.pop();
    else if (name === 'w:sdt') this.controls.pop();
    else if (name === 'w:sdtPr') this.controlProperties -= 1;
    else if (name === 'w:ffData') this.isInForm = false;
    else if (name === 'w:fldChar') this.closeFieldMark();
  }

  private closeFieldMark(): void {
    this.showForm();
    if (this.hasFieldEnded) {
      const text = this.takeFieldText();
      if (text !== '') this.emit(toTextTag(text));
    }
    this.hasFieldEnded = false;
  }

  private showForm(): void {
    const form = this.form;
    this.form = undefined;
    if (form?.isChecked !== undefined) this.showBox(form);
    const choice = form?.choices[form.choice];
    if (choice !== undefined) this.emit(toTextTag(choice));
  }
}

const withoutPrefix = (name: string): string => name.slice(name.indexOf(':') + 1);

/** The document with its computed texts, piece by piece. */
export async function* showWordText(pieces: AsyncIterable<string>, facts: WordFacts): AsyncGenerator<string> {
  const writer = new WordTextWriter(facts);
  for await (const piece of pieces) yield writer.write(piece);
  yield writer.end();
}
