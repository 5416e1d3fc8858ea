import { tooMuchText } from '../block-writer.ts';
import { maxCharacters } from '../limits.ts';
import type { FormatNumber } from './number-formats.ts';
import type { PackedTexts } from './packed-texts.ts';
import { readXml } from './read-xml.ts';

const maxColumns = 16_384;
/** The maximum of empty cells that are kept in a gap. */
const maxGapCells = 20;

interface CellSource {
  texts: PackedTexts;
  showNumber: FormatNumber;
}

/**
 * Calls `onRow` with every row that has content, formatted as shown, and with an empty array for blank rows in between. Wide gaps between
 * cells are shortened.
 */
export async function readSheet(pieces: AsyncIterable<string>, source: CellSource, onRow: (cells: string[]) => void): Promise<void> {
  let row: Cell[] = [];
  let characters = 0;
  let rowNumber = 0;
  let lastWritten = 0;
  let column = 0;
  let type = '';
  let style = 0;
  let value = '';
  let isInValue = false;
  await readXml(pieces, {
    open(name, attributes) {
      if (name === 'row') {
        row = [];
        column = 0;
        rowNumber = Number(attributes['r'] ?? rowNumber + 1) || rowNumber + 1;
      } else if (name === 'c') {
        column = parseColumn(attributes['r']) ?? column + 1;
        type = attributes['t'] ?? 'n';
        style = Number(attributes['s'] ?? 0);
        value = '';
      } else if (name === 'v' || name === 't') isInValue = true;
    },
    text(piece) {
      if (isInValue) value += piece;
    },
    close(name) {
      if (name === 'v' || name === 't') isInValue = false;
      else if (name === 'c' && value !== '' && column <= maxColumns) {
        const text = formatCell(value, type, style, source);
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
}

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
  return Number.isNaN(number) ? value : showNumber(number, style);
}

/** 28 for "AB12". */
function parseColumn(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0];
  return letters === undefined ? undefined : [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}
