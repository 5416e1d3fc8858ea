import { UnreadableFileError } from '../text/unreadable-file.ts';

/** No sheet of a workbook has the wanted name. */
export class UnknownSheetError extends UnreadableFileError {}
