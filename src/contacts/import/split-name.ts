export interface PersonName {
  first_name: string;
  last_name: string;
}

const particles = new Set([
  'van',
  'von',
  'vom',
  'zu',
  'zum',
  'zur',
  'der',
  'den',
  'de',
  'del',
  'della',
  'di',
  'da',
  'das',
  'do',
  'dos',
  'du',
  'la',
  'le',
  'ter',
  'ten',
  'bin',
  'ibn',
  'ben',
  'al',
  'el',
  'af',
  'av',
  'st.',
]);
const suffixPattern = /^(?:jr|sr|ii|iii|iv|phd|md|esq)\.?$/i;
const eastAsianPattern = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー\s]+$/u;

/**
 * Splits a full name. `Lovelace, Ada`, East Asian names and names of a family-first column begin with the family name; in others the last
 * word is the family name, with the particles before it (`van Beethoven`) and the suffix behind it (`Smith Jr.`). A single word is a first
 * name.
 */
export function splitName(fullName: string, isFamilyFirst = false): PersonName {
  const name = fullName.replace(/\s+/g, ' ').trim();
  const [beforeComma = '', afterComma = '', ...more] = name.split(',').map((part) => part.trim());
  if (afterComma && more.length === 0 && !suffixPattern.test(afterComma)) return { first_name: afterComma, last_name: beforeComma };

  const words = name.split(' ');
  if (words.length > 1 && (isFamilyFirst || eastAsianPattern.test(name)))
    return { first_name: words.slice(1).join(' '), last_name: words[0] ?? '' };
  let start = words.length - 1;
  if (start > 1 && suffixPattern.test(words[start] ?? '')) start -= 1;
  while (start > 1 && particles.has((words[start - 1] ?? '').toLowerCase())) start -= 1;
  return start < 1
    ? { first_name: name, last_name: '' }
    : { first_name: words.slice(0, start).join(' '), last_name: words.slice(start).join(' ') };
}
