/** The facts of a text, each kind in the order of its first mention. */
export interface TextFacts {
  text: string;
  names: string[];
  days: string[];
  dates: string[];
  dateTimes: string[];
  times: string[];
  /** Each with its position in the text. */
  numbers: { value: number; at: number }[];
  emails: string[];
  phones: string[];
  links: string[];
}

const dayNames = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const monthNames = 'January February March April May June July August September October November December'.split(' ');
const numberWords =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(
    ' ',
  );
const tens = new Map([
  ['thirty', 30],
  ['forty', 40],
  ['fifty', 50],
  ['sixty', 60],
  ['seventy', 70],
  ['eighty', 80],
  ['ninety', 90],
  ['hundred', 100],
  ['thousand', 1000],
]);

const emailPattern = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;
const linkPattern = /https?:\/\/[^\s"'<>)]+/g;
const dateTimePattern = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)/g;
const datePattern = /\b\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])\b/g;
const phonePattern = /\+?\(?\d[\d\s().-]{7,}\d/g;
const timePattern = /\b(?:[01]?\d|2[0-3]):[0-5]\d\b|\b(?:1[0-2]|[1-9]) ?[ap]m\b/gi;
const numberPattern = /(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?|\b[a-z]+\b/gi;

export function readFacts(whole: string): TextFacts {
  const text = ownLines(whole);
  const all = (pattern: RegExp) => distinct(text.match(pattern) ?? []);
  const phones = all(phonePattern).filter((phone) => phone.replace(/\D/g, '').length >= 9 && !/^\d{4}-\d\d-\d\d/.test(phone));
  return {
    text,
    names: namesIn(text),
    days: distinct([...text.matchAll(new RegExp(`\\b(?:${dayNames.join('|')})`, 'gi'))].map(([day]) => capitalized(day))),
    dates: distinct([...all(datePattern), ...writtenDates(text)]),
    dateTimes: all(dateTimePattern),
    times: all(timePattern),
    numbers: numbersIn(text),
    emails: all(emailPattern),
    phones: phones.map((phone) => phone.trim()),
    links: all(linkPattern).map((link) => link.replace(/[.,;]$/, '')),
  };
}

/** The other side's lines of a transcript: a model does not answer from its own words. */
function ownLines(text: string): string {
  const lines = text.split('\n').filter((line) => !/^\s*(?:agent|assistant|bot|ai)\s*:/i.test(line));
  return lines.map((line) => line.replace(/^\s*(?:user|caller|customer|contact|person|human)\s*:\s*/i, '')).join('\n');
}

const distinct = (items: readonly string[]): string[] => [...new Set(items)];
const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();

const introduction = /(?:\bmy (?:full )?name(?: is|'s)|\bthis is|\bi am|\bi'm|\bcall me|\bname\s*[:=])\s+/gi;
const properName = /^\p{Lu}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*){0,3}/u;
const notNames = new Set([...dayNames, ...monthNames, 'I', 'Yes', 'No', 'Ok', 'Okay', 'Sure', 'Hello', 'Hi', 'Hey', 'Thanks', 'Thank']);

function namesIn(text: string): string[] {
  const introduced = [...text.matchAll(introduction)].map(({ 0: lead, index }) => properName.exec(text.slice(index + lead.length))?.[0]);
  const amid = [...text.matchAll(/(?<=[\p{Ll}\d,;:] )\p{Lu}\p{Ll}[\p{L}'’-]*(?: \p{Lu}\p{Ll}[\p{L}'’-]*)*/gu)].map(([name]) => name);
  return distinct([...introduced, ...amid].filter((name) => name !== undefined && !notNames.has(name)) as string[]);
}

function writtenDates(text: string): string[] {
  const months = monthNames.join('|');
  const pattern = new RegExp(
    `\\b(${months}) (\\d{1,2})(?:st|nd|rd|th)?,? (\\d{4})\\b|\\b(\\d{1,2})(?:st|nd|rd|th)? (${months}),? (\\d{4})\\b`,
    'gi',
  );
  return [...text.matchAll(pattern)].map(([, month, day, year, earlyDay, lateMonth, lateYear]) => {
    const index = monthNames.indexOf(capitalized(month ?? lateMonth!)) + 1;
    return `${year ?? lateYear}-${String(index).padStart(2, '0')}-${(day ?? earlyDay!).padStart(2, '0')}`;
  });
}

const blank = (text: string, pattern: RegExp): string => text.replace(pattern, (match) => ' '.repeat(match.length));

/** Digits of dates, times, phones and addresses are no numbers of their own. */
function numbersIn(text: string): TextFacts['numbers'] {
  const bare = [emailPattern, linkPattern, dateTimePattern, datePattern, timePattern, phonePattern].reduce(blank, text);
  return [...bare.matchAll(numberPattern)].flatMap(({ 0: match, index }) => {
    const word = match.toLowerCase();
    const value = /\d/.test(word)
      ? Number(word.replaceAll(',', ''))
      : numberWords.includes(word)
        ? numberWords.indexOf(word)
        : tens.get(word);
    return value === undefined ? [] : [{ value, at: index }];
  });
}
