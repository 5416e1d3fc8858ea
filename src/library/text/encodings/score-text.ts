import { lettersOfLanguages } from './letters.ts';

/** Costs are negative logarithms: the smaller, the likelier the text. */
const [foreignLetterCost, rareSymbolCost, controlCost] = [11, 9, 18];
const commonSymbols = '’‘“”„–—…«»°€£§№®™•©¿¡\u00a0';
const [commonSymbolCost, symbolInPlaceCost] = [6, 2.5];
const capitalCost = 2.5;
const capitalBesideNumberCost = 4;

const weights = Object.values(lettersOfLanguages).map((groups) => {
  const costs = new Map<string, number>();
  for (const [cost, letters] of groups.split(' ').entries()) for (const letter of letters) costs.set(letter, Math.max(cost, 0.7));
  return costs;
});
/** Names of many languages of the West stand in one list. */
const western = mix(['de', 'fr', 'es', 'pt', 'it', 'sv', 'da', 'nl', 'fi']);
const central = mix(['pl', 'cs', 'sk', 'hu', 'ro', 'hr', 'de']);
const models = [...weights, western, central];

function mix(languages: (keyof typeof lettersOfLanguages)[]): Map<string, number> {
  const shares = new Map<string, number>();
  for (const language of languages)
    for (const [letter, cost] of weights[Object.keys(lettersOfLanguages).indexOf(language)]!)
      shares.set(letter, (shares.get(letter) ?? 0) + Math.exp(-cost) / languages.length);
  return new Map([...shares].map(([letter, share]) => [letter, -Math.log(share)]));
}

/** The cost of the signs beyond ASCII in a text of an alphabet: in the language in which they are likeliest. */
export function scoreAlphabet(text: string): number {
  const counts = new Map<string, number>();
  let cost = 0;
  let before = '';
  const signs = [...text];
  for (const [index, sign] of signs.entries()) {
    if (sign > '\u007f') {
      const letter = sign.toLowerCase();
      const after = signs[index + 1] ?? '';
      if (isLetter(sign)) {
        const isCapital = letter !== sign;
        if (isCapital) cost += isLetter(before) && isLower(before) ? 6 : capitalCost / (isLetter(before) ? 1.5 : 2.5);
        if (isCapital && isBesideNumber(signs, index)) cost += capitalBesideNumberCost;
        counts.set(letter, (counts.get(letter) ?? 0) + 1);
        cost += neighbourCost(letter, before, after);
      } else cost += scoreSymbol(sign, before, after);
    } else if (isControl(sign)) cost += controlCost;
    before = sign;
  }
  return cost + Math.min(...models.map((model) => scoreLetters(counts, model)));
}

/** Whether a sign stands alone beside a number, where a currency stands: `5 €`, `€5`. */
function isBesideNumber(signs: string[], index: number): boolean {
  const [beforeBlank = '', before = '', after = ''] = [signs[index - 2], signs[index - 1], signs[index + 1]];
  if (isLetter(before) || isLetter(after)) return false;
  return /\d/.test(before) || /\d/.test(after) || (/\s/.test(before) && /\d/.test(beforeBlank));
}

function scoreLetters(counts: Map<string, number>, model: Map<string, number>): number {
  let cost = 0;
  for (const [letter, count] of counts) cost += count * (model.get(letter) ?? foreignLetterCost);
  return cost;
}

/** Letters of two alphabets do not meet in a word; accents of Latin letters seldom stand side by side; some letters only end a word. */
function neighbourCost(letter: string, before: string, after: string): number {
  if (!isLatin(letter)) {
    const mixed = [before, after].filter((sign) => isAscii(sign) || (isLetter(sign) && isLatin(sign))).length;
    return mixed * 6 + (/[ςםןץףך]/.test(letter) && isLetter(after) ? 5 : 0);
  }
  const accented = [before, after].filter((sign) => sign > '\u007f' && isLetter(sign)).length;
  return accented * 2 - (isAscii(before) || isAscii(after) ? 0.7 : 0);
}

function scoreSymbol(sign: string, before: string, after: string): number {
  if (/[\p{Cc}\p{Co}\p{Cn}\ufffd]/u.test(sign)) return controlCost;
  if (isInPlace(sign, before, after)) return symbolInPlaceCost;
  const inWord = isLetter(before) && isLetter(after) ? 4 : 0;
  if (commonSymbols.includes(sign)) return commonSymbolCost + inWord;
  return /\p{M}/u.test(sign) ? foreignLetterCost : rareSymbolCost + inWord;
}

/** Whether a sign stands where writing has it: quotes around words, an apostrophe in one, a dash between blanks, a currency beside a number. */
function isInPlace(sign: string, before: string, after: string): boolean {
  if ('’'.includes(sign) && isLetter(before) && isLetter(after)) return true;
  if ('“„«‘'.includes(sign) && isEdge(before) && /[\p{L}\p{N}]/u.test(after)) return true;
  if ('”“»’'.includes(sign) && /[\p{L}\p{N}.,!?]/u.test(before) && isEdge(after)) return true;
  if ('–—'.includes(sign)) return (before === ' ' && after === ' ') || (/\d/.test(before) && /\d/.test(after));
  if ('€£'.includes(sign)) return (/[\d\s]/.test(before) && isEdge(after)) || /\d/.test(after);
  if (sign === '°') return /[\d\s]/.test(before) && (/[CF]/.test(after) || isEdge(after));
  return sign === '…' && /[\p{L}]/u.test(before) && isEdge(after);
}

const isControl = (sign: string): boolean => sign < ' ' && !'\t\n\r\f\v'.includes(sign);
const isEdge = (side: string): boolean => side === '' || /[\s\p{P}]/u.test(side);
const isLetter = (sign: string): boolean => /^[\p{L}\p{M}]/u.test(sign);
const isAscii = (sign: string): boolean => /^[a-z]$/i.test(sign);
const isLower = (sign: string): boolean => sign !== sign.toUpperCase();
const isLatin = (sign: string): boolean => /^\p{Script=Latin}/u.test(sign);

/** The cost of the signs beyond ASCII in a text of an East Asian language. `isCommon`: the share of its writing that is in daily use. */
export function scoreEastAsian(text: string, language: 'ja' | 'zh' | 'ko', isCommon: (sign: string) => boolean): number {
  let cost = 0;
  for (const sign of text)
    if (sign > '\u007f') cost += scoreEastAsianSign(sign, language, isCommon);
    else if (isControl(sign)) cost += controlCost;
  return cost;
}

function scoreEastAsianSign(sign: string, language: 'ja' | 'zh' | 'ko', isCommon: (sign: string) => boolean): number {
  if (/[、。，：；！？（）「」『』《》・ー“”‘’　…—]/.test(sign)) return 4.5;
  if (/\p{Script=Hiragana}/u.test(sign)) return language === 'ja' ? 4 : 14;
  if (/[\uff66-\uff9f]/.test(sign)) return language === 'ja' ? 6 : 14;
  if (/\p{Script=Katakana}/u.test(sign)) return language === 'ja' ? 4.7 : 14;
  if (/\p{Script=Hangul}/u.test(sign)) return language === 'ko' ? (isCommon(sign) ? 6 : 10) : 15;
  if (/\p{Script=Han}/u.test(sign)) return language === 'ko' ? 11 : isCommon(sign) ? 7.2 : 11.5;
  if (/[\p{Cc}\p{Co}\p{Cn}\ufffd]/u.test(sign)) return controlCost;
  return /[\uff01-\uff5e]/.test(sign) ? 7 : 12;
}
