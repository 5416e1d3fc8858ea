import { writeArchive, type ArchivePart } from './write-archive.ts';

/** A cell: a number, or a text, which is never read as a formula. */
export type SheetValue = string | number;

interface SheetLimits {
  /** Rows of a sheet with its header; a program shows 1,048,576 (ECMA-376, part 1, 18.3.1.73). */
  rows: number;
  /** Characters of a sheet's XML: its part must stay below 4 GiB. */
  characters: number;
}

const programLimits: SheetLimits = { rows: 1_048_576, characters: 2 ** 30 };
/** A cell takes no longer text; what is cut ends in an ellipsis. */
const maxCellLength = 32_767;
const rowsPerPiece = 200;

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const spreadsheet = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packages = 'http://schemas.openxmlformats.org/package/2006';
const contentType = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/**
 * A workbook (xlsx: ECMA-376, part 1, 18) that is written while its rows are read, a page at a time. Rows beyond the limits go on in further
 * sheets, each with the header.
 */
export const writeWorkbook = (
  sheetName: string,
  header: string[],
  pages: AsyncIterable<SheetValue[][]>,
  limits = programLimits,
): AsyncGenerator<Uint8Array, undefined, undefined> => writeArchive(listParts(sheetName, header, new RowReader(pages), limits));

async function* listParts(
  sheetName: string,
  header: string[],
  rows: RowReader,
  limits: SheetLimits,
): AsyncGenerator<ArchivePart, undefined, undefined> {
  yield toPart('[Content_Types].xml', contentTypes);
  yield toPart('_rels/.rels', toRelationships([['officeDocument', 'xl/workbook.xml']]));
  const names: string[] = [];
  do {
    names.push(names.length === 0 ? sheetName : `${sheetName} ${names.length + 1}`);
    yield { name: `xl/worksheets/sheet${names.length}.xml`, pieces: writeSheet(header, rows, limits) };
  } while (await rows.hasMore());
  yield toPart('xl/workbook.xml', toWorkbook(names));
  yield toPart('xl/_rels/workbook.xml.rels', toRelationships(names.map((_, index) => ['worksheet', `worksheets/sheet${index + 1}.xml`])));
}

async function* writeSheet(header: string[], rows: RowReader, limits: SheetLimits): AsyncGenerator<string, undefined, undefined> {
  const frozenHeader = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
  yield `${declaration}<worksheet xmlns="${spreadsheet}"><sheetViews><sheetView workbookViewId="0">${frozenHeader}</sheetView></sheetViews><sheetData>${toRow(header, 1)}`;
  let [number, length] = [1, 0];
  while (number < limits.rows && length < limits.characters) {
    const page = await rows.take(Math.min(rowsPerPiece, limits.rows - number));
    if (page.length === 0) break;
    const text = page.map((cells) => toRow(cells, ++number)).join('');
    length += text.length;
    yield text;
  }
  yield '</sheetData></worksheet>';
}

/** Reads rows in pages of another size. */
class RowReader {
  readonly #pages: AsyncIterator<SheetValue[][]>;
  #page: SheetValue[][] = [];
  #place = 0;

  constructor(pages: AsyncIterable<SheetValue[][]>) {
    this.#pages = pages[Symbol.asyncIterator]();
  }

  /** The next rows, at most `count`; none: there are no more. */
  async take(count: number): Promise<SheetValue[][]> {
    if (!(await this.hasMore())) return [];
    const rows = this.#page.slice(this.#place, this.#place + count);
    this.#place += rows.length;
    return rows;
  }

  async hasMore(): Promise<boolean> {
    while (this.#place >= this.#page.length) {
      const { done, value } = await this.#pages.next();
      if (done) return false;
      [this.#page, this.#place] = [value, 0];
    }
    return true;
  }
}

const toRow = (cells: SheetValue[], number: number): string =>
  `<row r="${number}">${cells.map((value, column) => toCell(value, `${toLetters(column)}${number}`)).join('')}</row>`;

/** Texts are inline: a table of shared texts would have to be kept until the end. */
function toCell(value: SheetValue, place: string): string {
  if (typeof value === 'number' && Number.isFinite(value)) return `<c r="${place}"><v>${value}</v></c>`;
  if (value === '') return '';
  return `<c r="${place}" t="inlineStr"><is><t xml:space="preserve">${escapeText(cutText(String(value)))}</t></is></c>`;
}

/** 0 is A, 26 is AA. */
const toLetters = (column: number): string =>
  (column < 26 ? '' : toLetters(Math.floor(column / 26) - 1)) + String.fromCharCode(65 + (column % 26));

const cutText = (text: string): string =>
  text.length <= maxCellLength ? text : `${text.slice(0, maxCellLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;

/** What XML cannot carry, and what would read as such an escape (ECMA-376, part 1, 22.9.2.19). */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const escapedPattern = /[\0-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[\dA-Fa-f]{4}_)/g;
const markupPattern = /[&<>]/g;

const escapeText = (text: string): string =>
  text
    .toWellFormed()
    .replace(escapedPattern, (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`)
    .replace(markupPattern, (sign) => `&#${sign.charCodeAt(0)};`);

/** Every XML part that is not named is a sheet, so that their number need not be known before they are written. */
const contentTypes = `${declaration}<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="${contentType}.worksheet+xml"/><Override PartName="/xl/workbook.xml" ContentType="${contentType}.sheet.main+xml"/></Types>`;

const toRelationships = (targets: [type: string, target: string][]): string =>
  `${declaration}<Relationships xmlns="${packages}/relationships">${targets
    .map(([type, target], index) => `<Relationship Id="rId${index + 1}" Type="${relationships}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;

const toWorkbook = (names: string[]): string =>
  `${declaration}<workbook xmlns="${spreadsheet}" xmlns:r="${relationships}"><sheets>${names
    .map((name, index) => `<sheet name="${escapeText(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`)
    .join('')}</sheets></workbook>`;

const toPart = (name: string, text: string): ArchivePart => ({
  name,
  pieces: (async function* () {
    yield text;
  })(),
});
