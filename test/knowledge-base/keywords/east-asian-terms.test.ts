import fc from 'fast-check';
import { expect, test } from 'vitest';
import { listCountedTerms, listCountedTermsOfQuery } from '../../../src/knowledge-base/keywords/counted-words.ts';
import { listKoreanStems } from '../../../src/knowledge-base/keywords/korean-stems.ts';
import { toMatchExpression } from '../../../src/knowledge-base/keywords/keyword-query.ts';
import { listJapaneseStems } from '../../../src/knowledge-base/keywords/unspaced-scripts.ts';

test.each([
  ['九時', '9時'],
  ['9时', '9時'],
  ['9点钟', '9時'],
  ['09時', '9時'],
  ['아홉 시', '9時'],
  ['9시', '9時'],
  ['열두 시', '12時'],
  ['十八時', '18時'],
  ['四十五天', '45天'],
  ['两天', '2天'],
  ['三百二十円', '320円'],
  ['一千二百円', '1200円'],
  ['二万五千円', '25000円'],
  ['二〇二六年', '2026年'],
  ['十個', '10個'],
  ['三个月', '3ヶ月'],
  ['3か月', '3ヶ月'],
  ['三月', '3月'],
  ['两个小时', '2時間'],
])('the number and counter of %s have the term %s, in a text and in a question', (written, term) => {
  expect(listCountedTerms(written)[0]).toBe(term);
  expect(listCountedTermsOfQuery(written)).toEqual([term]);
});

test.each(['何時に開きますか', '几点开门', '몇 시에 여나요'])('%s asks for a number with the counter of hours', (question) => {
  const [asked] = listCountedTermsOfQuery(question);
  expect(listCountedTerms('九時')).toContain(asked);
  expect(listCountedTerms('九年')).not.toContain(asked);
});

test.each([
  ['엽니다', '여나요', '열어요'],
  ['바꿀', '바꿉니다', '바꾸려면', '바꾸나요', '바꿔요'],
  ['반품할', '반품하려면', '반품합니다', '반품해요', '반품하나요'],
  ['고객센터는', '고객센터', '고객센터에서', '고객센터로'],
])('%s and its other forms have one stem', (...forms) => {
  expect(new Set(forms.map((form) => listKoreanStems(form)[0]?.term)).size).toBe(1);
});

test('stems of Japanese verbs are single letters before their endings, and words of two letters are none', () => {
  expect(listJapaneseStems('何時に開きますか')).toEqual(['開']);
  expect(listJapaneseStems('返品できますか')).toEqual([]);
});

test('any question of East Asian letters and numbers makes an expression of bounded length, or none', () => {
  const letters = fc
    .array(fc.constantFrom(...'何時九十百万两点个月開いて엽니다몇시を 9"*'), { maxLength: 200 })
    .map((signs) => signs.join(''));
  fc.assert(
    fc.property(letters, (question) => {
      const expression = toMatchExpression(7, question);
      expect(expression === null || expression.split(' OR ').length <= 64).toBe(true);
    }),
  );
});
