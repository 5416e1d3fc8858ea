import type { Archive } from '../office-files/archive.ts';
import { readXml } from '../office-files/read-xml.ts';
import { builtInFormats, formatNumber, isDate, toPattern } from './number-formats.ts';

const daysBetweenEpochs = 1462;

/** What the styles of cells say. `style`: the index that a cell carries. */
export interface CellStyles {
  /** Shows a number as the workbook shows it, but with all its digits: a phone number is no power of ten. */
  showNumber(value: number, style: number): string;
  /** The name of the font; empty without one. */
  fontOf(style: number): string;
}

/** Reads the styles of a workbook (ECMA-376, part 1, 18.8). */
export async function readCellStyles(archive: Archive, part: string, isFrom1904: boolean): Promise<CellStyles> {
  const patterns = new Map(Object.entries(builtInFormats).map(([id, pattern]) => [Number(id), pattern]));
  const fonts: string[] = [];
  const styles: { pattern: string; font: number }[] = [];
  let around = '';
  await readXml(archive.pieces(part), {
    open(name, attributes) {
      if (name === 'numFmt') patterns.set(Number(attributes['numFmtId']), toPattern(attributes['formatCode']));
      else if (name === 'fonts' || name === 'cellXfs') around = name;
      else if (name === 'font' && around === 'fonts') fonts.push('');
      else if (name === 'name' && around === 'fonts' && fonts.length > 0) fonts[fonts.length - 1] = attributes['val'] ?? '';
      else if (name === 'xf' && around === 'cellXfs')
        styles.push({ pattern: patterns.get(Number(attributes['numFmtId'])) ?? 'General', font: Number(attributes['fontId'] ?? 0) });
    },
    close(name) {
      if (name === around) around = '';
    },
  });
  return {
    showNumber(value, style) {
      const pattern = styles[style]?.pattern ?? 'General';
      return formatNumber(isFrom1904 && isDate(pattern) ? value + daysBetweenEpochs : value, pattern);
    },
    fontOf: (style) => fonts[styles[style]?.font ?? 0] ?? '',
  };
}
