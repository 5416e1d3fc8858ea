import { UnreadableFileError } from '../../../library/text/decode-text.ts';
import type { Issue } from '../../../library/errors.ts';
import { UnknownColumn, type TableColumns } from '../columns.ts';
import { openCsv } from './open-table.ts';
import type { SourceOptions } from '../options.ts';

export type Inspection = { columns: TableColumns; totalRows: number } | { problem: Issue };

/** What a campaign that is about to be created would read: its columns and how many rows, or why it could not. Reads the whole file once. */
export async function inspectCsv(bytes: AsyncIterable<Uint8Array>, options: SourceOptions, defaultCountry: string): Promise<Inspection> {
  try {
    const { columns, count } = await openCsv(bytes, options, defaultCountry);
    return { columns, totalRows: await count() };
  } catch (error) {
    return { problem: toSourceIssue(error) };
  }
}

/** What is to be corrected where a source could not be read. Throws what is no `UnreadableFileError`. */
export function toSourceIssue(error: unknown): Issue {
  if (!(error instanceof UnreadableFileError)) throw error;
  const isNamedColumn = error instanceof UnknownColumn;
  return {
    loc: isNamedColumn ? ['body', 'source_options', 'phone_column'] : ['body', 'source_id'],
    msg: error.message,
    type: isNamedColumn ? 'unknown_column' : 'unreadable_source',
  };
}
