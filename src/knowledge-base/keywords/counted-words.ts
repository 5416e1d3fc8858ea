import { lazily } from '../../library/lazily.ts';

/** Before a counter in the index that stands behind some number. A question asks for it: "何時", "几天", "몇 시". */
const someNumberMark = '\uE007';

/** Each in the spellings of one counter, the first of which is the term's. */
const counters = lazily(
  () =>
    new Map(
      (
        '時間/小时/小時/个小时/個小時/钟头/鐘頭/시간 時/时/点/點/点钟/點鐘/시 分/分钟/分鐘/분 秒/초 年/年間/年间/년 月/월 ' +
        'ヶ月/か月/カ月/ヵ月/ケ月/箇月/个月/個月/개월/달 日/日間/号/號/일 天 週/周/週間/周间/星期/个星期/個星期/주 個/个/件/개/コ 枚 本 冊/册/권 人/名/位/명 ' +
        '歳/岁/歲/才/살/세 回/次/번/회 番 階/层/層/楼/樓/층 円/元/块/塊/원 台/대 倍/배 度/도'
      )
        .split(' ')
        .flatMap((group) => group.split('/').map((spelling, _, [term = '']) => [spelling, term] as const)),
    ),
);
const digits = '〇零一二三四五六七八九';
const units: Record<string, number> = { 十: 10, 百: 100, 千: 1000, 万: 10_000, 萬: 10_000 };
const pair: Record<string, string> = { 两: '二', 兩: '二' };
const koreanNumbers = ['한', '두', '세', '네', '다섯', '여섯', '일곱', '여덟', '아홉', '열', '열한', '열두'];

const patterns = lazily(() => {
  const longestFirst = [...counters().keys()].toSorted((one, other) => other.length - one.length);
  const counter = `(${longestFirst.join('|')})`;
  const korean = `(?<!\\p{L})(?:${koreanNumbers.toReversed().join('|')})(?= ?[시살개명번장권대달])`;
  return {
    counted: new RegExp(`(\\d{1,6}|[${digits}两兩十百千万萬]{1,9}|${korean}) ?${counter}`, 'gu'),
    asked: new RegExp(`(?:何|幾|几|多少|몇) ?${counter}`, 'gu'),
  };
});

/** Terms of numbers with East Asian counters, in one spelling (`9時` of `九時`), and of their counters beside some number. */
export const listCountedTerms = (text: string): string[] =>
  findCounted(text).flatMap(({ term, counter }) => [term, someNumberMark + counter]);

/** As `listCountedTerms`, of a query: what it names, and the counters whose number it asks for. */
export const listCountedTermsOfQuery = (query: string): string[] => [
  ...findCounted(query).map(({ term }) => term),
  ...[...query.matchAll(patterns().asked)].map(([, counter = '']) => someNumberMark + counters().get(counter)!),
];

const findCounted = (text: string): { term: string; counter: string }[] =>
  [...text.matchAll(patterns().counted)].map(([, number = '', spelling = '']) => {
    const counter = counters().get(spelling)!;
    return { term: toDigits(number) + counter, counter };
  });

function toDigits(number: string): string {
  if (/^\d/.test(number)) return number.replace(/^0+(?=\d)/, '');
  const korean = koreanNumbers.indexOf(number);
  if (korean >= 0) return String(korean + 1);
  const signs = [...number].map((sign) => pair[sign] ?? sign);
  return signs.some((sign) => sign in units)
    ? String(toSum(signs))
    : signs
        .map((sign) => digits.indexOf(sign))
        .map(toDigit)
        .join('');
}

/** Of the place in `digits`, where zero has two signs. */
const toDigit = (place: number): number => Math.max(0, place - 1);

/** `三百二十`: 320; `二万五千`: 25,000. */
function toSum(signs: string[]): number {
  let [sum, part, last] = [0, 0, 0];
  for (const sign of signs) {
    const unit = units[sign];
    if (unit === undefined) last = toDigit(digits.indexOf(sign));
    else if (unit === 10_000) [sum, part, last] = [sum + (part + last || 1) * unit, 0, 0];
    else [part, last] = [part + (last || 1) * unit, 0];
  }
  return sum + part + last;
}
