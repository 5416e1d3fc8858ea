const romanNumerals: [number, string][] = [
  [1000, 'M'],
  [900, 'CM'],
  [500, 'D'],
  [400, 'CD'],
  [100, 'C'],
  [90, 'XC'],
  [50, 'L'],
  [40, 'XL'],
  [10, 'X'],
  [9, 'IX'],
  [5, 'V'],
  [4, 'IV'],
  [1, 'I'],
];
/** Word itself writes higher ones as digits. */
const maxRoman = 32_767;
const maxLetterRepeats = 30;

function toRoman(value: number): string {
  if (value < 1 || value > maxRoman) return String(value);
  let rest = value;
  let text = '';
  for (const [worth, numeral] of romanNumerals) for (; rest >= worth; rest -= worth) text += numeral;
  return text;
}

/** A ... Z, AA, BB: Word repeats the letter. */
function toLetter(value: number, alphabet: string): string {
  const letters = [...alphabet];
  const repeats = Math.ceil(value / letters.length);
  if (value < 1 || repeats > maxLetterRepeats) return String(value);
  return letters[(value - 1) % letters.length]!.repeat(repeats);
}

const latin = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const russian = 'абвгдежзиклмнопрстуфхцчшщыэюя';
const greek = 'αβγδεζηθικλμνξοπρστυφχψω';

/** The numbers up to 99 as they are counted in East Asia. */
function toCounted(value: number, digits = '〇一二三四五六七八九', ten = '十'): string {
  if (value < 1 || value > 99) return String(value);
  const [tens, ones] = [Math.floor(value / 10), value % 10];
  return `${tens > 1 ? digits[tens] : ''}${tens > 0 ? ten : ''}${ones > 0 ? digits[ones] : ''}`;
}

const toDigits = (value: number, digits: string): string => String(value).replace(/\d/g, (digit) => [...digits][Number(digit)]!);

function toOrdinal(value: number): string {
  const teen = value % 100 >= 11 && value % 100 <= 13;
  return `${value}${(teen ? undefined : ['th', 'st', 'nd', 'rd'][value % 10]) ?? 'th'}`;
}

const smallWords =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const tenWords = ' ten twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const ordinalWords: Record<string, string> = {
  one: 'first',
  two: 'second',
  three: 'third',
  five: 'fifth',
  eight: 'eighth',
  nine: 'ninth',
  twelve: 'twelfth',
};

function toWords(value: number): string {
  if (value > 99) return String(value);
  if (value < 20) return smallWords[value] ?? String(value);
  return `${tenWords[Math.floor(value / 10)]}${value % 10 === 0 ? '' : `-${smallWords[value % 10]}`}`;
}

function toOrdinalWords(value: number): string {
  if (value > 99) return toOrdinal(value);
  return toWords(value).replace(/\w+$/, (last) => ordinalWords[last] ?? (last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}th`));
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const writers: Record<string, (value: number) => string> = {
  none: () => '',
  bullet: () => '',
  upperRoman: toRoman,
  lowerRoman: (value) => toRoman(value).toLowerCase(),
  upperLetter: (value) => toLetter(value, latin),
  lowerLetter: (value) => toLetter(value, latin.toLowerCase()),
  russianUpper: (value) => toLetter(value, russian.toUpperCase()),
  russianLower: (value) => toLetter(value, russian),
  greekUpper: (value) => toLetter(value, greek.toUpperCase()),
  greekLower: (value) => toLetter(value, greek),
  hebrew2: (value) => toLetter(value, 'אבגדהוזחטיכלמנסעפצקרשת'),
  arabicAlpha: (value) => toLetter(value, 'أبتثجحخدذرزسشصضطظعغفقكلمنهوي'),
  arabicAbjad: (value) => toLetter(value, 'أبجدهوزحطيكلمنسعفصقرشتثخذضظغ'),
  ganada: (value) => toLetter(value, '가나다라마바사아자차카타파하'),
  chosung: (value) => toLetter(value, 'ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ'),
  aiueoFullWidth: (value) =>
    toLetter(value, 'アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン'),
  irohaFullWidth: (value) =>
    toLetter(value, 'イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン'),
  thaiLetters: (value) => toLetter(value, 'กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ'),
  ideographTraditional: (value) => toLetter(value, '甲乙丙丁戊己庚辛壬癸'),
  ideographZodiac: (value) => toLetter(value, '子丑寅卯辰巳午未申酉戌亥'),
  chineseCounting: toCounted,
  chineseCountingThousand: toCounted,
  taiwaneseCounting: toCounted,
  taiwaneseCountingThousand: toCounted,
  japaneseCounting: toCounted,
  koreanCounting: (value) => toCounted(value, '영일이삼사오육칠팔구', '십'),
  koreanDigital: (value) => toDigits(value, '영일이삼사오육칠팔구'),
  koreanDigital2: (value) => toDigits(value, '〇一二三四五六七八九'),
  ideographDigital: (value) => toDigits(value, '〇一二三四五六七八九'),
  japaneseDigitalTenThousand: (value) => toDigits(value, '〇一二三四五六七八九'),
  decimalFullWidth: (value) => toDigits(value, '０１２３４５６７８９'),
  thaiNumbers: (value) => toDigits(value, '๐๑๒๓๔๕๖๗๘๙'),
  hindiNumbers: (value) => toDigits(value, '०१२३४५६७८९'),
  decimalEnclosedCircle: (value) => (value >= 1 && value <= 20 ? String.fromCodePoint(0x245f + value) : String(value)),
  decimalZero: (value) => String(value).padStart(2, '0'),
  numberInDash: (value) => `- ${value} -`,
  hex: (value) => value.toString(16).toUpperCase(),
  ordinal: toOrdinal,
  cardinalText: (value) => capitalize(toWords(value)),
  ordinalText: (value) => capitalize(toOrdinalWords(value)),
};
writers['aiueo'] = writers['aiueoFullWidth']!;
writers['iroha'] = writers['irohaFullWidth']!;

/** A number of a list in a format of Word (ECMA-376, part 1, 17.18.59); in digits if the format is not known. `value`: a whole number from 0. */
export function writeListNumber(value: number, format: string): string {
  const padded = /^custom:(0*)1?/.exec(format);
  if (padded) return String(value).padStart(padded[1]!.length + 1, '0');
  return (writers[format] ?? String)(value);
}
