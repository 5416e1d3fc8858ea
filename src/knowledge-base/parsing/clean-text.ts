import { limitCombiningMarks } from '../../library/text/clean-text.ts';

/** Soft hyphens, zero-width characters and direction marks: invisible characters that would split words in a search. */
const invisible = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/g;
// oxlint-disable-next-line no-control-regex -- removes control characters
const controls = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f]/g;
const ligatures = /[\ufb00-\ufb06]/g;

/**
 * Normalizes text for storage and search: NFC, no control or invisible characters, no ligatures, single spaces, and only the document's own
 * line ends. Zero-width joiners are removed too; they shape letters but are none.
 */
export function cleanText(text: string): string {
  return cleanCharacters(text)
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')
    .trim();
}

/** `cleanText` on one line. */
export function cleanLine(text: string): string {
  return cleanCharacters(text).replace(/\s+/g, ' ').trim();
}

function cleanCharacters(text: string): string {
  // Almost all text is plain, so one test saves four passes.
  // oxlint-disable-next-line no-control-regex -- matches any character that is not plain
  if (/^[\t\n\r\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff]*$/.test(text)) return text.replace(/\r\n?/g, '\n');
  return limitCombiningMarks(text)
    .replace(/\r\n?|\u2028|\u2029|\u0085/g, '\n')
    .replace(controls, '')
    .replace(invisible, '')
    .replace(ligatures, (letters) => letters.normalize('NFKC'))
    .normalize('NFC')
    .toWellFormed();
}
