import { maxParagraphLength } from '../block-writer.ts';
import type { BlockWriter } from '../block-writer.ts';
import type { Block } from '../blocks.ts';
import { cleanLine, cleanText } from '../clean-text.ts';
import { toPictureText } from '../picture-text.ts';
import { parseListItem } from '../text/parse-list-item.ts';
import { boldHeadingLevel } from '../detect-typed-headings.ts';
import { raisedSign, type Raised } from '../../../library/text/raised-digits.ts';
import { blockElements, boldElements, shownInput, whySkipped } from './elements.ts';
import { HtmlTable } from './html-table.ts';
import { readMarkStyle, writeMark } from './list-marks.ts';
import { MarkupMath } from './markup-math.ts';
import { SkippedElements } from './skipped-elements.ts';

/** A completely bold paragraph of at most this length counts as a heading. */
const maxBoldHeadingLength = 100;
const maxTableDepth = 20;

/** `next`: undefined: the list counts down to 1, and its `items` are numbered at its end. */
interface List {
  isOrdered: boolean;
  style: ReturnType<typeof readMarkStyle>;
  next: number | undefined;
  step: 1 | -1;
  items: Block[];
}

/** Builds blocks from a stream of elements and text. */
export class HtmlBlockBuilder {
  private readonly writer: BlockWriter;
  private title = '';
  private titleDepth = 0;
  private readonly skipped: SkippedElements;
  private preformatted = 0;
  private bold = 0;
  private headingLevel = 0;
  private readonly lists: List[] = [];
  private readonly tables: HtmlTable[] = [];
  /** Open elements inside the deepest one; their text is read as its text. */
  private tablesBeyondMaxDepth = 0;
  /** The prefix of the next item's text: "3. ", or empty for a bullet. Undefined outside an item and after its first text. */
  private itemMark: string | undefined;
  private math: MarkupMath | undefined;
  private raised: Raised = '';
  private pieces: string[] = [];
  private bufferedLength = 0;
  private lettersInBold = 0;

  constructor(writer: BlockWriter) {
    this.writer = writer;
    this.skipped = new SkippedElements(writer.warnings);
  }

  open(name: string, attributes: Record<string, string>): void {
    if (this.skipped.isInside) return this.skipped.open(name);
    if (this.math) return this.math.open(name, attributes);
    const why = whySkipped(name, attributes, this.headingLevel > 0);
    if (why !== undefined) return this.skipped.begin(why);
    if (blockElements.has(name)) this.flush();
    if (name === 'title') this.titleDepth += 1;
    else if (name === 'br') this.pieces.push('\n');
    else if (name === 'sup' || name === 'sub') this.raised = name === 'sup' ? '^' : '_';
    else if (name === 'math') this.math = new MarkupMath();
    else if (name === 'input') this.addInput(attributes);
    else if (name === 'img') this.addInline(toPictureText({ title: attributes['title'], description: attributes['alt'] }));
    else if (name === 'textarea' || name === 'select') this.addInline('');
    else if (name === 'pre') this.preformatted += 1;
    else if (boldElements.has(name)) this.bold += 1;
    else if (/^h[1-6]$/.test(name)) this.headingLevel = Number(name[1]);
    else if (name === 'ul' || name === 'ol') this.openList(name === 'ol', attributes);
    else if (name === 'li') this.itemMark = this.takeNextMark(attributes['value']);
    else this.openTablePart(name, attributes);
  }

  text(text: string): void {
    if (this.skipped.isInside) return this.skipped.text(text);
    if (this.math) return this.math.text(text);
    if (this.titleDepth > 0) {
      this.title += text;
      return;
    }
    const sign = raisedSign(this.pieces.at(-1) ?? '', this.raised, text);
    if (sign !== '') this.pieces.push(sign);
    this.raised = '';
    this.pieces.push(this.preformatted > 0 ? text : text.replace(/\s+/g, ' '));
    if (this.bold > 0) this.lettersInBold += countLetters(text);
    this.bufferedLength += text.length;
    if (this.bufferedLength > maxParagraphLength) this.flush();
  }

  close(name: string): void {
    if (this.skipped.isInside) return this.skipped.close();
    if (this.math?.close()) return;
    if (this.math) return this.closeMath();
    if (blockElements.has(name)) this.flush();
    if (name === 'title') this.titleDepth -= 1;
    else if (name === 'pre') this.preformatted -= 1;
    else if (name === 'sup' || name === 'sub') this.raised = '';
    else if (name === 'textarea' || name === 'select') this.addInline('');
    else if (boldElements.has(name)) this.bold -= 1;
    else if (/^h[1-6]$/.test(name)) this.headingLevel = 0;
    else if (name === 'ul' || name === 'ol') this.closeList();
    else if (name === 'li') this.itemMark = undefined;
    else this.closeTablePart(name);
  }

  /** Writes the remaining text and answers the page's title. */
  end(): string {
    this.closeMath();
    this.flush();
    this.tablesBeyondMaxDepth = 0;
    while (this.tables.length > 0) this.closeTablePart('table');
    return this.title;
  }

  private closeMath(): void {
    const formula = this.math?.end() ?? '';
    this.math = undefined;
    this.text(formula);
  }

  /** A text between the others, apart from them. */
  private addInline(text: string): void {
    this.pieces.push(` ${text} `);
    this.bufferedLength += text.length + 2;
  }

  private addInput(attributes: Record<string, string>): void {
    const shown = shownInput(attributes);
    if (shown === null) this.writer.warnings.add('controls_left_out');
    else this.addInline(shown);
  }

  private openList(isOrdered: boolean, attributes: Record<string, string>): void {
    const start = attributes['start'] === undefined ? NaN : Number(attributes['start']);
    const isReversed = isOrdered && attributes['reversed'] !== undefined;
    const next = Number.isInteger(start) ? start : isReversed ? undefined : 1;
    this.lists.push({ isOrdered, style: readMarkStyle(attributes), next, step: isReversed ? -1 : 1, items: [] });
  }

  private closeList(): void {
    const list = this.lists.pop();
    if (!list || list.next !== undefined) return;
    for (const [index, item] of list.items.entries()) item.text = writeMark(list.items.length - index, list.style) + item.text;
  }

  private takeNextMark(value: string | undefined): string {
    const list = this.lists.at(-1);
    if (!list?.isOrdered || list.next === undefined) return '';
    const named = value === undefined ? NaN : Number(value);
    const number = Number.isInteger(named) ? named : list.next;
    list.next = number + list.step;
    return writeMark(number, list.style);
  }

  private openTablePart(name: string, attributes: Record<string, string>): void {
    const table = this.tables.at(-1);
    if (name === 'table') {
      if (this.tables.length < maxTableDepth) this.tables.push(new HtmlTable());
      else this.tablesBeyondMaxDepth += 1;
    } else if (name === 'thead') table?.openHead();
    else if (name === 'tr') table?.openRow(this.getRowWriter());
    else if (name === 'td' || name === 'th')
      table?.openCell(name === 'th', Number(attributes['colspan'] ?? 1) || 1, Number(attributes['rowspan'] ?? 1) || 1);
  }

  private closeTablePart(name: string): void {
    const table = this.tables.at(-1);
    if (name === 'td' || name === 'th') table?.closeCell();
    else if (name === 'tr') table?.closeRow(this.getRowWriter());
    else if (name === 'thead') table?.closeHead();
    else if (name === 'table' && this.tablesBeyondMaxDepth > 0) this.tablesBeyondMaxDepth -= 1;
    else if (name === 'table' && table) {
      this.tables.pop();
      const rest = table.close();
      for (const block of rest) this.add(block);
      if (this.tables.length === 0) this.writer.endTable();
    }
  }

  private getRowWriter(): BlockWriter | undefined {
    return this.tables.length === 1 ? this.writer : undefined;
  }

  private flush(): void {
    const text = cleanText(this.pieces.join(''));
    const isBold = this.lettersInBold > 0 && this.lettersInBold >= countLetters(text);
    this.pieces = [];
    this.bufferedLength = 0;
    this.lettersInBold = 0;
    if (text === '') return;
    const lines = this.headingLevel === 0 && this.itemMark === undefined && this.preformatted === 0 ? text.split('\n') : [];
    // Some lists are typed as lines that begin with a dash.
    if (lines.some((line) => isBulleted(line))) for (const line of lines) this.add(this.toTypedLine(line));
    else this.add(this.toBlock(text, isBold));
  }

  private toTypedLine(line: string): Block {
    return { kind: isBulleted(line) ? 'list_item' : 'paragraph', text: parseListItem(line) ?? line, page: this.writer.page };
  }

  private toBlock(text: string, isBold: boolean): Block {
    const { page } = this.writer;
    if (this.headingLevel > 0) return { kind: 'heading', level: this.headingLevel, text: cleanLine(text), page };
    if (this.itemMark !== undefined) {
      const item: Block = { kind: 'list_item', text: this.itemMark + text, page };
      const list = this.lists.at(-1);
      if (list?.isOrdered && list.next === undefined) list.items.push(item);
      this.itemMark = undefined;
      return item;
    }
    if (isBold && this.tables.length === 0 && this.lists.length === 0 && text.length <= maxBoldHeadingLength && !/[.:;,]$/.test(text))
      return { kind: 'heading', level: boldHeadingLevel, text: cleanLine(text), page };
    return { kind: 'paragraph', text, page };
  }

  private add(block: Block): void {
    const around = this.tables.findLast((table) => table.isInCell);
    if (around) around.add(block);
    else this.writer.add(block);
  }
}

/** Numbers stay, because they may belong to headings. */
const isBulleted = (line: string): boolean => ![line.trimStart(), undefined].includes(parseListItem(line));

const countLetters = (text: string): number => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
