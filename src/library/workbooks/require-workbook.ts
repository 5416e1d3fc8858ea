import { openArchive } from '../office-files/archive.ts';
import { listArchiveEntries } from '../office-files/list-archive-entries.ts';
import { detectArchiveKind, detectCompoundFileKind, isCompoundFile } from '../office-files/office-kind.ts';
import { passwordProtected, unsupportedFile } from '../text/unparsable-document.ts';
import { openWorkbook, type Workbook } from './open-workbook.ts';

/** Opens a file that `looksLikeWorkbook` accepts. Throws `UnparsableDocument`, which says what the file is if it is no xlsx. */
export async function requireWorkbook(bytes: Uint8Array): Promise<Workbook> {
  if (isCompoundFile(bytes)) throw refuseCompoundFile(bytes);
  const entries = listArchiveEntries(bytes);
  const kind = detectArchiveKind(entries);
  if (kind !== 'xlsx') throw unsupportedFile(foreignArchives[kind].what, foreignArchives[kind].advice);
  if (entries.some(({ isEncrypted }) => isEncrypted)) throw passwordProtected();
  return openWorkbook(openArchive(bytes));
}

const saveAsTable = 'save it as .xlsx or .csv';
const foreignArchives = {
  docx: { what: 'a Word document', advice: 'save the table in it as .xlsx or .csv' },
  pptx: { what: 'a PowerPoint presentation', advice: 'save the table in it as .xlsx or .csv' },
  xlsb: { what: 'a binary Excel workbook (.xlsb)', advice: saveAsTable },
  opendocument: { what: 'an OpenDocument file', advice: saveAsTable },
  iwork: { what: 'a Pages, Numbers or Keynote file', advice: 'export it as .xlsx or .csv' },
  archive: { what: 'a zip archive', advice: 'unpack it and take the .xlsx or .csv in it' },
};

function refuseCompoundFile(bytes: Uint8Array) {
  const kind = detectCompoundFileKind(bytes);
  return kind === 'encrypted' ? passwordProtected() : unsupportedFile(compoundFiles[kind], saveAsTable);
}

const compoundFiles = {
  doc: 'an old Word document (.doc)',
  ppt: 'an old PowerPoint presentation (.ppt)',
  xls: 'an old Excel workbook (.xls)',
  other: 'an old Office file',
};
