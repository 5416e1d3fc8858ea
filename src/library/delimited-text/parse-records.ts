import { parse } from 'csv-parse/sync';
import { UnreadableFileError } from '../text/unreadable-file.ts';
import { cleanCell } from './clean-cell.ts';
import type { RawRecord, SoundRecord } from './split-records.ts';

/** A row that cannot be read as its cells; its text is in `cells` as it stands. `problem`: a sentence for the sender. */
export interface FileRecord {
  file_row: number;
  cells: string[];
  problem?: string;
}

const brokenQuote =
  'A cell of the row begins with a quote that is never closed, or has a quote within it that is not doubled; double the quotes within the cell, or remove them';

/** The cells of records. The one place where errors of the parser become sentences: throws `UnreadableFileError` alone. */
export function parseRecords(records: RawRecord[], delimiter: string): FileRecord[] {
  const quoted = records.flatMap((record) => ('text' in record && isQuoted(record) ? [record.text] : []));
  const parsed = parseQuoted(quoted, delimiter, records[0]?.file_row ?? 1);
  let next = 0;
  return records.flatMap((record): FileRecord[] => {
    const raw = 'cells' in record ? record.cells : isQuoted(record) ? parsed[next++]! : record.text.split(delimiter);
    const cells = raw.map(cleanCell);
    if (cells.every((cell) => cell === '')) return [];
    return [{ file_row: record.file_row, cells, ...('text' in record || record.isClear ? {} : { problem: brokenQuote }) }];
  });
}

/** A record without quotes is its cells with delimiters between them, which takes a tenth of the time. */
const isQuoted = ({ text }: SoundRecord): boolean => text.includes('"');

function parseQuoted(texts: string[], delimiter: string, firstRow: number): string[][] {
  if (texts.length === 0) return [];
  try {
    const parsed = parse(texts.join('\n'), {
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: true,
      trim: true,
    });
    if (parsed.length !== texts.length) throw new Error(`${texts.length} records were parsed as ${parsed.length}`);
    return parsed;
  } catch (error) {
    throw new UnreadableFileError(`The rows from ${firstRow} on cannot be read as a table; save the file as CSV once more`, {
      cause: error,
    });
  }
}
