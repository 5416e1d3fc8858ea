import JSZip from 'jszip';

const packages = 'http://schemas.openxmlformats.org/package/2006';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

export async function makeArchive(parts: Record<string, string>): Promise<Uint8Array> {
  const zip = new JSZip();
  for (const [name, text] of Object.entries(parts)) zip.file(name, text);
  return zip.generateAsync({ type: 'uint8array', compression: 'DEFLATE' });
}

export const relationships = (targets: [type: string, target: string][]) =>
  `<Relationships xmlns="${packages}/relationships">${targets
    .map(([type, target], index) => `<Relationship Id="r${index + 1}" Type="${office}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;

const frame = (main: string) => ({
  '[Content_Types].xml': `<Types xmlns="${packages}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>`,
  '_rels/.rels': relationships([['officeDocument', main]]),
});

/** `body`: paragraphs and tables of WordprocessingML. `parts`: named by their types and numbers; the first is `r1` to the document. */
export const makeWord = (body: string, parts: Record<string, string> = {}) =>
  makeArchive({
    ...frame('word/document.xml'),
    'word/document.xml': `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
    'word/_rels/document.xml.rels': relationships(
      Object.keys(parts).map((name) => [/(\w+?)\d*\.\w+$/.exec(name)![1]!, name.slice('word/'.length)]),
    ),
    ...parts,
  });

export const wordParagraph = (text: string, properties = '') =>
  `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;

export interface Sheet {
  name: string;
  /** Rows of SpreadsheetML. */
  rows: string;
  /** Columns of SpreadsheetML. */
  columns?: string;
  state?: string;
  /** Elements of SpreadsheetML after the rows. */
  after?: string;
  /** The parts that belong to the sheet: their type, and their name below `xl`. */
  parts?: [type: string, target: string][];
}

/** `formats`: the pattern of each cell style, from 1; `fonts`: those of the styles after them. */
export const makeWorkbook = (
  sheets: Sheet[],
  {
    texts = [],
    formats = [],
    fonts = [],
    from1904 = false,
    parts = {},
  }: { texts?: string[]; formats?: string[]; fonts?: string[]; from1904?: boolean; parts?: Record<string, string> } = {},
) =>
  makeArchive({
    ...frame('xl/workbook.xml'),
    'xl/workbook.xml': `<workbook xmlns:r="${office}"><workbookPr${from1904 ? ' date1904="1"' : ''}/><sheets>${sheets
      .map(({ name, state = 'visible' }, index) => `<sheet name="${name}" state="${state}" r:id="r${index + 1}"/>`)
      .join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationships([
      ...sheets.map((_, index): [string, string] => ['worksheet', `worksheets/sheet${index + 1}.xml`]),
      ['sharedStrings', 'sharedStrings.xml'],
      ['styles', 'styles.xml'],
    ]),
    'xl/sharedStrings.xml': `<sst>${texts.map((text) => `<si>${text}</si>`).join('')}</sst>`,
    'xl/styles.xml': `<styleSheet><numFmts>${formats
      .map((format, index) => `<numFmt numFmtId="${200 + index}" formatCode="${format}"/>`)
      .join(
        '',
      )}</numFmts><fonts><font><name val="Arial"/></font>${fonts.map((font) => `<font><b/><name val="${font}"/></font>`).join('')}</fonts><cellXfs><xf numFmtId="0"/>${formats.map((_, index) => `<xf numFmtId="${200 + index}"/>`).join('')}${fonts.map((_, index) => `<xf numFmtId="0" fontId="${index + 1}"/>`).join('')}</cellXfs></styleSheet>`,
    ...Object.fromEntries(
      sheets.flatMap(({ rows, columns = '', after = '', parts: own = [] }, index) => [
        [`xl/worksheets/sheet${index + 1}.xml`, `<worksheet><cols>${columns}</cols><sheetData>${rows}</sheetData>${after}</worksheet>`],
        [
          `xl/worksheets/_rels/sheet${index + 1}.xml.rels`,
          relationships(own.map(([type, target]): [string, string] => [type, `../${target}`])),
        ],
      ]),
    ),
    ...parts,
  });

/** `slides`: shapes of PresentationML; `notes` by the index of their slide; `charts` by that of a slide without notes, which names it `r1`. */
export const makePresentation = (
  slides: string[],
  notes: Record<number, string> = {},
  charts: Record<number, string> = {},
  parts: Record<string, string> = {},
) =>
  makeArchive({
    ...frame('ppt/presentation.xml'),
    'ppt/presentation.xml': `<p:presentation xmlns:r="${office}"><p:sldIdLst>${slides
      .map((_, index) => `<p:sldId id="${256 + index}" r:id="r${slides.length - index}"/>`)
      .join('')}</p:sldIdLst></p:presentation>`,
    // Listed from the last to the first: their order is that of the presentation, not that of the files.
    'ppt/_rels/presentation.xml.rels': relationships(slides.map((_, index) => ['slide', `slides/slide${slides.length - index}.xml`])),
    ...Object.fromEntries(slides.map((slide, index) => [`ppt/slides/slide${index + 1}.xml`, slide])),
    ...Object.fromEntries(
      Object.entries(charts).flatMap(([index, chart]) => [
        [`ppt/slides/_rels/slide${Number(index) + 1}.xml.rels`, relationships([['chart', `../charts/chart${index}.xml`]])],
        [`ppt/charts/chart${index}.xml`, chart],
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(notes).flatMap(([index, text]) => [
        [`ppt/slides/_rels/slide${Number(index) + 1}.xml.rels`, relationships([['notesSlide', `../notesSlides/notes${index}.xml`]])],
        [
          `ppt/notesSlides/notes${index}.xml`,
          `<p:notes><p:sp><p:nvPr><p:ph type="body"/></p:nvPr><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sp></p:notes>`,
        ],
      ]),
    ),
    ...parts,
  });

export const slideOf = (shapes: string, attributes = '') => `<p:sld ${attributes}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`;
export const shapeOf = (kind: string, paragraphs: string[], properties = '') =>
  `<p:sp><p:nvSpPr><p:nvPr>${kind === '' ? '' : `<p:ph type="${kind}"/>`}</p:nvPr></p:nvSpPr><p:txBody>${paragraphs
    .map((text) => `<a:p>${properties}<a:r><a:t>${text}</a:t></a:r></a:p>`)
    .join('')}</p:txBody></p:sp>`;
