import { tooMuchText } from '../block-writer.ts';
import { maxCharacters } from '../limits.ts';
import type { FormatNumber } from './number-formats.ts';
import type { PackedTexts } from './packed-texts.ts';
import { readXml } from './read-xml.ts';

const maxColumns = 16_384;
/** The maximum of empty cells that are kept in a gap. */
const maxGapCells = 20;
const maxHiddenRanges = 100;

interface CellSource {
  texts: PackedTexts;
  showNumber: FormatNumber;
}

/**
 * Calls `onRow` with every row that has content, formatted as shown, and with an empty array for blank rows in between. Wide gaps between
 * cells are shortened. Answers how many cells stand in hidden rows and columns, which are left out, and how many show an error.
 */
export async function readSheet(
  pieces: AsyncIterable<string>,
  source: CellSource,
  onRow: (cells: string[]) => void,
): Promise<{ hiddenCells: number; errors: number }> {
  let row: Cell[] = [];
  let characters = 0;
  let rowNumber = 0;
  let lastWritten = 0;
  let column = 0;
  let type = '';
  let style = 0;
  let value = '';
  let isInValue = false;
  let isInSpoken = false;
  let isHiddenRow = false;
  const hiddenColumns: { from: number; to: number }[] = [];
  let hiddenCells = 0;
  let errors = 0;
  await readXml(pieces, {
    open(name, attributes) {
      if (name === 'col') {
        if (isTrue(attributes['hidden']) && hiddenColumns.length < maxHiddenRanges)
          hiddenColumns.push({ from: Number(attributes['min']), to: Number(attributes['max']) });
      } else if (name === 'row') {
        row = [];
        column = 0;
        isHiddenRow = isTrue(attributes['hidden']);
        rowNumber = Number(attributes['r'] ?? rowNumber + 1) || rowNumber + 1;
      } else if (name === 'c') {
        column = parseColumn(attributes['r']) ?? column + 1;
        type = attributes['t'] ?? 'n';
        style = Number(attributes['s'] ?? 0);
        value = '';
      } else if (name === 'rPh') isInSpoken = true;
      else if (name === 'v' || name === 't') isInValue = !isInSpoken;
    },
    text(piece) {
      if (isInValue) value += piece;
    },
    close(name) {
      if (name === 'v' || name === 't') isInValue = false;
      else if (name === 'rPh') isInSpoken = false;
      else if (name === 'c' && value !== '' && (isHiddenRow || hiddenColumns.some(({ from, to }) => from <= column && column <= to)))
        hiddenCells += 1;
      else if (name === 'c' && value !== '' && column <= maxColumns) {
        const text = formatCell(value, type, style, source);
        if (type === 'e') errors += 1;
        // A text that is stored once may appear in many cells.
        characters += text.length;
        if (characters > maxCharacters) throw tooMuchText();
        if (text.trim() !== '') row.push({ column, text });
      } else if (name === 'row' && row.length > 0) {
        if (lastWritten > 0 && rowNumber > lastWritten + 1) onRow([]);
        onRow(fillGaps(row));
        row = [];
        lastWritten = rowNumber;
      }
    },
  });
  return { hiddenCells, errors };
}

const isTrue = (value: string | undefined): boolean => value === '1' || value === 'true';

interface Cell {
  /** From 1. */
  column: number;
  text: string;
}

function fillGaps(cells: Cell[]): string[] {
  const texts: string[] = [];
  let last = 0;
  for (const { column, text } of cells.toSorted((one, other) => one.column - other.column)) {
    for (let gap = Math.min(column - last - 1, maxGapCells); gap > 0; gap -= 1) texts.push('');
    texts.push(text);
    last = column;
  }
  return texts;
}

function formatCell(value: string, type: string, style: number, { texts, showNumber }: CellSource): string {
  if (type === 's') return texts.at(Number(value)) ?? '';
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
  if (type === 'e') return '';
  if (type !== 'n') return value;
  const number = Number(value);
  // A number that some program wrote with more digits than a number has is an identifier.
  if (/^-?\d{16,}$/.test(value)) return value;
  return Number.isNaN(number) ? value : showNumber(number, style);
}

/** 28 for "AB12". */
function parseColumn(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0];
  return letters === undefined ? undefined : [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}
