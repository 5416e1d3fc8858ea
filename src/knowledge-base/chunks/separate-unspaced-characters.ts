/** The scripts that write no blanks between words, as a character class. */
export const unspacedScripts = String.raw`[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]`;
const unspacedCharacters = new RegExp(unspacedScripts, 'gu');

/** The text with blanks around each character of a script without blanks between words; null when it has no such character. */
export const separateUnspacedCharacters = (text: string): string | null =>
  text.search(unspacedCharacters) === -1 ? null : text.replace(unspacedCharacters, ' $& ');
