import { cleanLine } from './clean-text.ts';

/** What of a file was not read as it is meant, or may not have been. */
export const warningCodes = [
  'pages_without_text',
  'images_skipped',
  'attachments_left_out',
  'embedded_left_out',
  'hidden_left_out',
  'controls_left_out',
  'comments_left_out',
  'readings_left_out',
  'errors_left_out',
  'formulas_left_out',
  'symbols_unread',
  'rows_broken',
  'encoding_guessed',
  'encoding_uncertain',
  'characters_damaged',
] as const;
export type WarningCode = (typeof warningCodes)[number];

/** `count`: of pages, images, attachments, embedded objects, hidden parts (sheets, slides, cells, texts), controls, comments, readings, cells, formulas, symbols, rows or characters; 1 for the encoding of a file. `message`: a sentence for the person who uploaded the file. */
export interface DocumentWarning {
  code: WarningCode;
  count: number;
  message: string;
}

const maxPlaces = 5;
/** How many fonts are told apart. */
const maxFonts = 100;
const maxShownFonts = 5;
const maxFontLength = 60;

interface Found {
  count: number;
  places: number[];
  detail: string;
  fonts: Map<string, number>;
}

interface WarningFacts {
  count?: number;
  place?: number;
  detail?: string;
  font?: string;
}

/** Counts what a reader leaves out or cannot trust. */
export class WarningCounts {
  private readonly found = new Map<WarningCode, Found>();

  /**
   * `place`: the number of the page or row; the first ones are named. `detail`: what the sentence says about the encoding. `font`: of a symbol; those of most symbols
   * are named.
   */
  add(code: WarningCode, { count = 1, place, detail = '', font }: WarningFacts = {}): void {
    if (count === 0) return;
    const known: Found = this.found.get(code) ?? { count: 0, places: [], detail, fonts: new Map() };
    known.count += count;
    if (font !== undefined) countFont(known.fonts, cleanLine(font).slice(0, maxFontLength), count);
    if (place !== undefined && known.places.length < maxPlaces) known.places.push(place);
    this.found.set(code, known);
  }

  has(code: WarningCode): boolean {
    return this.found.has(code);
  }

  list(): DocumentWarning[] {
    return warningCodes.flatMap((code) => {
      const found = this.found.get(code);
      return found === undefined ? [] : [{ code, count: found.count, message: sentences[code](found) }];
    });
  }
}

function countFont(fonts: Map<string, number>, font: string, count: number): void {
  if (fonts.has(font) || fonts.size < maxFonts) fonts.set(font, (fonts.get(font) ?? 0) + count);
}

const listPlaces = (noun: string, { count, places }: Found): string =>
  places.length === 0 ? '' : ` (${noun} ${places.join(', ')}${count > places.length ? ', ...' : ''})`;
const listFonts = ({ count, fonts }: Found): string => {
  const most = [...fonts].toSorted(([, one], [, other]) => other - one).slice(0, maxShownFonts);
  const rest = count - most.reduce((sum, [, known]) => sum + known, 0);
  const named = most.map(([font, known]) => `${known} of ${font === '' ? 'a font that is not named' : `the font ${font}`}`);
  return [...named, ...(rest > 0 ? [`${rest} of others`] : [])].join(', ');
};
const several = (count: number, one: string, many: string): string => (count === 1 ? `1 ${one}` : `${count} ${many}`);

const sentences: Record<WarningCode, (found: Found) => string> = {
  pages_without_text: (found) =>
    `${several(found.count, 'page has', 'pages have')} no text${listPlaces('page', found)}; if they are scans, run text recognition (OCR) over the file and upload it again`,
  images_skipped: ({ count }) => `${several(count, 'image was', 'images were')} skipped: only the text of a document is read`,
  attachments_left_out: ({ count }) =>
    `${several(count, 'attachment was', 'attachments were')} not read, at most ${count === 1 ? 'its name was' : 'their names were'}; upload what matters as files of their own`,
  embedded_left_out: ({ count }) =>
    `${several(count, 'embedded object was', 'embedded objects were')} not read, such as a file, an included document or a chart of a newer kind; upload what matters as files of their own`,
  hidden_left_out: ({ count }) =>
    `${several(count, 'hidden part was', 'hidden parts were')} left out: sheets, rows, columns, slides, layers or texts that are not shown; show them and upload the file again to have them read`,
  controls_left_out: ({ count }) =>
    `${several(count, 'menu, button or list to choose from was', 'menus, buttons and lists to choose from were')} left out`,
  comments_left_out: ({ count }) => `${several(count, 'comment was', 'comments were')} left out: only the text of a document is read`,
  readings_left_out: ({ count }) =>
    `${several(count, 'reading', 'readings')} above characters (ruby) ${count === 1 ? 'was' : 'were'} left out; the characters themselves were read`,
  errors_left_out: ({ count }) =>
    `${several(count, 'cell shows an error', 'cells show errors')} such as #N/A and ${count === 1 ? 'was' : 'were'} read as empty`,
  formulas_left_out: ({ count }) =>
    `${several(count, 'formula or field has', 'formulas or fields have')} no result in the file and ${count === 1 ? 'was' : 'were'} read as empty; open the file in the program that made it, update the fields, save it and upload it again`,
  symbols_unread: (found) =>
    `${several(found.count, 'symbol was', 'symbols were')} not read, since Unicode has no sign that is known to be the same (${listFonts(found)}); put words in the place of those that matter`,
  rows_broken: (found) =>
    `${several(found.count, 'row has', 'rows have')} broken quotes${listPlaces('row', found)} and may be cut into wrong cells; double the quotes within cells`,
  encoding_guessed: ({ detail }) =>
    `The encoding was guessed by the letters of the text: ${detail}; if the text looks wrong, process the document again with "encoding"`,
  encoding_uncertain: ({ detail }) =>
    `The encoding cannot be told for sure; it was read as ${detail}; process the document again with "encoding", or upload it in UTF-8`,
  characters_damaged: ({ count }) =>
    `${several(count, 'character is', 'characters are')} damaged in the file and ${count === 1 ? 'stands' : 'stand'} as \ufffd in the text`,
};
