import type { Issue } from '../../library/errors.ts';
import { UncertainEncoding, UnreadableFileError } from '../../library/text/unreadable-file.ts';
import { UnknownSheetError } from '../../library/workbooks/unknown-sheet.ts';
import { UnknownColumn } from '../../contacts/import/missing-column.ts';
import { SheetlessFile } from './file-source.ts';

/** The issue to correct in a source that cannot be read. Throws any error that is not an `UnreadableFileError`. */
export function toSourceIssue(error: unknown): Issue {
  if (!(error instanceof UnreadableFileError)) throw error;
  const [option, type] = findOption(error);
  return { loc: option === null ? ['body', 'source_id'] : ['body', 'source_options', option], msg: error.message, type };
}

function findOption(error: UnreadableFileError): [option: string | null, type: string] {
  if (error instanceof UncertainEncoding) return ['encoding', 'uncertain_encoding'];
  if (error instanceof UnknownColumn) return ['phone_column', 'unknown_column'];
  if (error instanceof UnknownSheetError || error instanceof SheetlessFile) return ['sheet', 'unknown_sheet'];
  return [null, 'unreadable_source'];
}
