import { toCommonText } from './common-text.ts';

/** Words that are written in one way only: of Latin, Greek and Cyrillic letters without ß. */
const plainWord = /^[a-z0-9\u00df-\u024f\u0370-\u03ff\u0400-\u052f]*$/;

/** Marks of vowels and of reading, and the stroke that makes a word longer. */
// oxlint-disable-next-line no-misleading-character-class -- each mark by itself
const arabicMarks = /[\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]/g;
const hebrewMarks = /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]/g;
/** Of abbreviations. */
const quoteInHebrew = /(?<=\p{sc=Hebr})["״'׳](?=\p{sc=Hebr})/gu;
/** Letters that writers use for one another, each with the one that stands for them. */
const sameLetters: Record<string, string> = { أ: 'ا', إ: 'ا', آ: 'ا', ٱ: 'ا', ى: 'ي', ی: 'ي', ة: 'ه', ک: 'ك', ۀ: 'ه', ß: 'ss' };
const letterWithOthers = new RegExp(`[${Object.keys(sameLetters).join('')}]`, 'g');

/** A word in one spelling: lower case, digits 0 to 9, without marks of vowels. */
export function foldWord(word: string): string {
  const lower = word.toLowerCase();
  if (plainWord.test(lower) && !lower.includes('ß')) return lower;
  return toCommonText(lower)
    .toLowerCase()
    .replaceAll(quoteInHebrew, '')
    .replaceAll(arabicMarks, '')
    .replaceAll(hebrewMarks, '')
    .replaceAll(letterWithOthers, (letter) => sameLetters[letter]!);
}

/** The spellings under which a word is found: its own, and what remains without the parts that Arabic and Hebrew write onto a word. */
export function listWordForms(word: string): string[] {
  const folded = foldWord(word);
  if (/\p{scx=Arab}/u.test(folded)) return [...new Set([folded, toArabicStem(folded)])];
  if (/\p{sc=Hebr}/u.test(folded)) return [...new Set([folded, ...listHebrewStems(folded)])];
  return [folded];
}

const arabicArticle = /^(?:ال|وال|بال|كال|فال|لل)(?=.{2})/;
const arabicEndings = ['ها', 'ان', 'ات', 'ون', 'ين', 'يه', 'ه', 'ي'];

/** The light stem of Larkey, Ballesteros and Connell (2007), "light10". */
function toArabicStem(word: string): string {
  let stem = word.replace(arabicArticle, '');
  if (stem === word) stem = word.replace(/^و(?=.{3})/, '');
  for (const ending of arabicEndings) if (stem.endsWith(ending) && stem.length - ending.length >= 2) stem = stem.slice(0, -ending.length);
  return stem;
}

const finalLetters: Record<string, string> = { ך: 'כ', ם: 'מ', ן: 'נ', ף: 'פ', ץ: 'צ' };
const hebrewPrefix = /^[והבלמשכ]/;
const hebrewEnding = /(?:יימ|ימ|יות|ות|ית|ה|ת|י)$/;
const shortestHebrewStem = 3;

/** Stems of a word, with and without up to two letters that may be its first or "and", "the", "in", "to", "from", "that", "as". */
function listHebrewStems(word: string): string[] {
  const bare = word.replace(/[ךםןףץ]$/, (letter) => finalLetters[letter]!);
  const stems = [withoutHebrewEnding(bare)];
  for (let rest = bare, cut = 0; cut < 2 && hebrewPrefix.test(rest) && rest.length > shortestHebrewStem; cut++) {
    rest = rest.slice(1);
    stems.push(withoutHebrewEnding(rest));
  }
  return stems;
}

function withoutHebrewEnding(word: string): string {
  const stem = word.replace(hebrewEnding, '');
  return stem.length < shortestHebrewStem ? word : stem;
}
