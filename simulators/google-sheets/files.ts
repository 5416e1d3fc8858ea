import { GoogleError } from '../google/errors.ts';
import type { Tab } from './grid.ts';

export interface SheetFile {
  id: string;
  name: string;
  /** ISO 8601. */
  modifiedTime: string;
  trashed: boolean;
  /** `workbook`: an Excel file, which the Sheets API refuses. `purged`: deleted for good. */
  kind: 'spreadsheet' | 'workbook' | 'purged';
  tabs: Tab[];
}

/** A file whose cells can be read and written. Throws GoogleError. */
export function spreadsheetOf(files: SheetFile[], id: string): SheetFile {
  const file = files.find((one) => one.id === id);
  if (file === undefined || file.kind === 'purged') throw new GoogleError(404, 'Requested entity was not found.');
  if (file.kind === 'workbook') throw new GoogleError(400, 'This operation is not supported for this document');
  return file;
}

export function touch(file: SheetFile): void {
  file.modifiedTime = new Date().toISOString();
}
