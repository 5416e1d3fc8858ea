import { deflateSync } from 'node:zlib';
import { pdfOf, type RawObject } from '../../parsing/make-raw-pdf.ts';
import type { Part } from '../source.ts';

const [width, height, margin] = [595, 842, 56];
/** In thousandths of the size: the signs of a font here have one width, those of East Asia the double. */
const signWidth = 500;
const isWide = (sign: string): boolean =>
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uffef]/u.test(sign);
const widthOf = (content: string, size: number): number =>
  [...content].reduce((sum, sign) => sum + ((isWide(sign) ? 2 : 1) * signWidth * size) / 1000, 0);

export interface PlacedText {
  text: string;
  x: number;
  y: number;
  size: number;
}
/** A line from one point to another. */
export type Rule = [x: number, y: number, toX: number, toY: number];
export interface PdfPage {
  texts: PlacedText[];
  rules: Rule[];
}

/** A PDF whose font has a glyph for each sign, with a table that gives its meaning. */
export function writePages(pages: PdfPage[]): Uint8Array {
  const signs = [...new Set(pages.flatMap(({ texts }) => texts.flatMap(({ text }) => [...text])))];
  const glyphs = new Map(signs.map((sign, index) => [sign, index + 1]));
  const hex = (number: number) => number.toString(16).padStart(4, '0');
  const show = (content: string) => [...content].map((sign) => hex(glyphs.get(sign)!)).join('');
  const meanings = [...glyphs].map(
    ([sign, glyph]) => `<${hex(glyph)}> <${Array.from({ length: sign.length }, (_, unit) => hex(sign.charCodeAt(unit))).join('')}>`,
  );
  const groups = Array.from({ length: Math.ceil(meanings.length / 100) }, (_, index) => meanings.slice(index * 100, index * 100 + 100));
  const map = `/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange ${groups
    .map((group) => `${group.length} beginbfchar ${group.join(' ')} endbfchar`)
    .join(' ')} endcmap end`;
  const widths = [...glyphs].map(([sign, glyph]) => `${glyph} [${isWide(sign) ? signWidth * 2 : signWidth}]`).join(' ');
  const kids = pages.map((_, index) => `${7 + index * 2} 0 R`).join(' ');
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`,
    '<< /Type /Font /Subtype /Type0 /BaseFont /Corpus /Encoding /Identity-H /DescendantFonts [4 0 R] /ToUnicode 5 0 R >>',
    `<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Corpus /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW ${signWidth} /W [${widths}] /FontDescriptor << /Type /FontDescriptor /FontName /Corpus /Flags 4 /Ascent 800 /Descent -200 /FontBBox [0 -200 1000 800] >> >>`,
    ['/Filter /FlateDecode', deflateSync(map)],
    ...pages.flatMap(({ texts, rules }, index): RawObject[] => [
      [
        '/Filter /FlateDecode',
        deflateSync(
          [
            ...rules.map(([x, y, toX, toY]) => `0.5 w ${x} ${y} m ${toX} ${toY} l S`),
            ...texts.map(({ text, x, y, size }) => `BT /F1 ${size} Tf 1 0 0 1 ${x} ${y} Tm <${show(text)}> Tj ET`),
          ].join('\n'),
        ),
      ],
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Contents ${6 + index * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
    ]),
  ]);
}

/** Cuts a text into lines at blanks, or between signs where there are none. */
function wrapText(content: string, size: number, room: number): string[] {
  const lines: string[] = [''];
  for (const word of content.match(/\S+\s*/gu) ?? []) {
    if (lines.at(-1) !== '' && widthOf(lines.at(-1)! + word.trimEnd(), size) > room) lines.push('');
    for (const sign of word) {
      if (widthOf(lines.at(-1)! + sign, size) > room) lines.push('');
      lines[lines.length - 1] += sign;
    }
  }
  return lines.map((line) => line.trimEnd());
}

/** Lays parts out on pages of A4, tables with rules. */
export class PdfLayout {
  readonly pages: PdfPage[] = [];
  private y = 0;

  constructor() {
    this.startPage();
  }

  startPage(): void {
    this.pages.push({ texts: [], rules: [] });
    this.y = height - margin;
  }

  add(part: Part): void {
    if (part.kind === 'heading') this.lines(part.text, part.level === 1 ? 20 : 15, 0, 12);
    else if (part.kind === 'text') this.lines(part.text, 10, 0, 8);
    else if (part.kind === 'item') this.lines(`${part.label === '' ? '•' : part.label} ${part.text}`, 10, 18 * (part.depth + 1), 4);
    else this.table(part.rows);
  }

  private lines(content: string, size: number, indent: number, space: number): void {
    this.y -= space;
    for (const line of wrapText(content, size, width - 2 * margin - indent)) {
      if (this.y < margin) this.startPage();
      this.y -= size * 1.25;
      this.pages.at(-1)!.texts.push({ text: line, x: margin + indent, y: this.y, size });
    }
    this.y -= space;
  }

  private table(rows: string[][]): void {
    const columns = Math.max(...rows.map((cells) => cells.length));
    const step = (width - 2 * margin) / columns;
    this.y -= 10;
    for (const cells of rows) {
      if (this.y < margin + 20) this.startPage();
      const { texts, rules } = this.pages.at(-1)!;
      const [top, bottom] = [this.y, this.y - 18];
      rules.push([margin, top, width - margin, top], [margin, bottom, width - margin, bottom]);
      for (let column = 0; column <= columns; column += 1) rules.push([margin + column * step, top, margin + column * step, bottom]);
      for (const [column, cell] of cells.entries())
        if (cell !== '') texts.push({ text: cell, x: margin + column * step + 4, y: bottom + 5, size: 10 });
      this.y = bottom;
    }
    this.y -= 14;
  }
}

export function toPdf(parts: Part[]): Uint8Array {
  const layout = new PdfLayout();
  for (const part of parts) layout.add(part);
  return writePages(layout.pages);
}
