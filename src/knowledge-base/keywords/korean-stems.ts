/** Before a stem in the index. */
const stemMark = '\uE008';

const word = /\p{sc=Hang}{2,12}/gu;
/** Particles and endings of verbs, longest first. What a syllable ends with before them is dropped by `bareLast`. */
const endings = new RegExp(
  `(?<=\\p{sc=Hang})(?:${[
    '하시겠습니까 하시나요 이었습니다 이었어요 으로부터 에서부터 입니다 입니까 습니다 습니까 으려면 으시면 에서는 에게서 으로는 까지는 까지만 부터는',
    '려면 으면 시면 려고 니다 니까 나요 는지 는데 아서 어서 여서 에서 에게 까지 부터 으로 이나 라도 처럼 보다 마다 아요 어요 여요 세요 지요 네요 은가 는가 인가 인지 들은 들이 들을 들의',
    '은 는 이 가 을 를 에 의 로 와 과 도 만 면 고 지 게 요 다 까 서 나 던 기',
  ]
    .join(' ')
    .split(' ')
    .join('|')})$`,
  'u',
);
const maxEndings = 2;
/** The last syllable of a stem, with what an ending has made of it. */
const fused: Record<string, string> = { 해: '하', 돼: '되', 려: '리', 져: '지', 워: '우', 꿔: '꾸', 줘: '주', 춰: '추', 와: '오' };
/** Stems that say little. */
const common = new Set('하 되 이 있 없 수 것 거 때 그 저 제 더 및 등 어떻 어떠 무어 무엇 언제 어디 왜 얼마 얼마나'.split(' '));

/** The stems of the Korean words of a text, by which 엽니다, 여나요 and 열어요 are one. `isCommon`: it says little. */
export function listKoreanStems(text: string): { term: string; isCommon: boolean }[] {
  return [...text.matchAll(word)].map(([one]) => {
    const stem = toStem(one);
    return { term: stemMark + stem, isCommon: common.has(stem) };
  });
}

function toStem(one: string): string {
  let stem = one;
  for (let count = 0; count < maxEndings && endings.test(stem); count++) stem = stem.replace(endings, '');
  const last = bareLast(stem.at(-1)!);
  return stem.slice(0, -1) + (stem.length > 1 ? (fused[last] ?? last) : last);
}

const [firstSyllable, finals] = [0xac00, 28];
/** Places of the final consonants ㄴ, ㄹ, ㅂ and ㅆ, with which endings begin. */
const finalsOfEndings = new Set([4, 8, 17, 20]);

function bareLast(syllable: string): string {
  const place = syllable.charCodeAt(0) - firstSyllable;
  return place >= 0 && finalsOfEndings.has(place % finals) ? String.fromCharCode(firstSyllable + place - (place % finals)) : syllable;
}
