/** Lower-case words of letters and digits, without accents and apostrophes. */
export const splitWords = (text: string): string[] =>
  text
    .normalize('NFKD')
    .replace(/[\p{M}'’]/gu, '')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [];

/** Without the endings of number, tense and person: "scheduling", "scheduled" and "schedules" are one. */
export function toStem(word: string): string {
  const cut = word
    .replace(/(?<=..)ies$/, 'y')
    .replace(/(?<=...)(?:ing|ed)$/, '')
    .replace(/(?<=...)(?<!s)s$/, '');
  return cut.replace(/(?<=..)([bdgklmnprt])\1$/, '$1').replace(/(?<=...)e$/, '');
}

export const toStems = (text: string): string[] => splitWords(text).map(toStem);

const stopWords =
  'a an and any are as at be been but by can could did do does for from had has have he her him his how i if im in into is it its just me my of on or our please she so some than that the their them then there these they this those to us was we were what when where which who will with would you your';

/** Words that have no meaning of their own. */
export const stopStems: ReadonlySet<string> = new Set(toStems(stopWords));

/** The stems of the words that have a meaning. */
export const toTopic = (text: string): Set<string> => new Set(toStems(text).filter((stem) => !stopStems.has(stem)));
