import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toMatchExpression } from '../../../src/knowledge-base/keywords/keyword-query.ts';
import { toIndexedText } from '../../../src/knowledge-base/keywords/search-terms.ts';

const textPart = (query: string) => toMatchExpression(7, query)?.replace('scope : "organization7" AND text : ', '');

describe('the words that are looked for', () => {
  test.each([
    ['refund window', '("refund" OR "window")'],
    ['K-200', '("k 200" OR "200" OR "k200")'],
    ['What is SKU-00123?', '("sku 00123" OR "sku" OR "00123" OR "sku00123")'],
    ['What is it?', '("what" OR "is" OR "it")'],
    ['Wie lange ist die Garantie?', '("garantie")'],
    ['+1 (212) 345-6789', '("\uE00198765432121"* OR "\uE0019876543212"* OR "1" OR "212" OR "345 6789" OR "345" OR "6789")'],
    ['C++', '("c\uE002\uE002")'],
    ['R&D', '("r\uE004d" OR "r d")'],
    ['refund refund REFUND', '("refund")'],
    ["don't", '("don t" OR "don")'],
    ['a"b) OR text:* NEAR', '("\uE006or" OR "or" OR "text" OR "near")'],
    ['型号K-200的保修', '("型 号" OR "k 200" OR "200" OR "的 保" OR "保 修" OR "k200")'],
    ['茶', '("茶")'],
  ])('of %j', (query, expected) => {
    expect(textPart(query)).toBe(expected);
  });

  test.each(['?!', '...', '---', '🙂'])('of %j are none', (query) => {
    expect(toMatchExpression(7, query)).toBeNull();
  });

  test('are 64 at most', () => {
    const query = Array.from({ length: 1300 }, (_, index) => `w${index}`).join(' ');
    expect(textPart(query)!.split(' OR ')).toHaveLength(64);
  });

  test('may be bound to documents', () => {
    expect(toMatchExpression(7, 'tea', [3, 12])).toBe(
      'scope : "organization7" AND scope : ("document3" OR "document12") AND text : ("tea")',
    );
  });
});

test('plain texts are indexed as they are, others beside that', () => {
  expect(toIndexedText('Plain text, über alles, привет, 12.50 and 3 of 4')).toEqual({ search_text: null, search_terms: null });
  expect(toIndexedText('型号K-200')).toEqual({ search_text: ' 型  号 K-200', search_terms: 'k200' });
  expect(toIndexedText('Call +49 (0)30 901820.')).toEqual({ search_text: null, search_terms: '\uE0010281090394' });
});

test('a text full of signs, digits or letters of any kind is indexed in linear time', { tags: 'soak' }, () => {
  for (const part of ['1 ', 'a-', 'a & ', 'A1 ', '1((((', '+', 'ا', 'ก', 'a+', '.a', 'בב"', 'IT ', '가', 'ß', '9,', '\u0301']) {
    const timeOf = (length: number) => {
      const text = part.repeat(length / part.length);
      const startedAt = performance.now();
      toIndexedText(text);
      return performance.now() - startedAt;
    };
    timeOf(10_000);
    expect(timeOf(400_000), part).toBeLessThan(10 * timeOf(100_000) + 200);
  }
});

test('whatever is asked is an expression that the index takes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ unit: 'grapheme', maxLength: 60 })),
      async (query) => {
        const match = toMatchExpression(7, query);
        if (match === null) return;
        await env.DB.prepare('SELECT rowid FROM knowledge_chunk_search WHERE knowledge_chunk_search MATCH ?').bind(match).all();
      },
    ),
    { numRuns: 150 },
  );
});
