import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { separateUnspacedCharacters } from '../../src/knowledge-base/chunks/separate-unspaced-characters.ts';
import { toMatchExpression } from '../../src/knowledge-base/search/keyword-query.ts';

const textPart = (query: string) => toMatchExpression(7, query)?.replace('scope : "organization7" AND text : ', '');

describe('the words that are looked for', () => {
  test.each([
    ['refund window', '("refund" OR "window")'],
    ['K-200', '("k 200" OR "200")'],
    ['What is SKU-00123?', '("what" OR "is" OR "sku 00123" OR "sku" OR "00123")'],
    ['call +1 (212) 345-6789', '("call" OR "1" OR "212" OR "345 6789" OR "345" OR "6789")'],
    ['refund refund REFUND', '("refund")'],
    ["don't", '("don t" OR "don")'],
    ['a"b) OR text:* NEAR', '("a b" OR "or" OR "text" OR "near")'],
    ['型号K-200的保修', '("型 号" OR "k 200" OR "200" OR "的 保" OR "保 修")'],
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

test('only texts of writings without blanks are spaced out', () => {
  expect(separateUnspacedCharacters('Plain text, über alles, привет')).toBeNull();
  expect(separateUnspacedCharacters('型号K-200')).toBe(' 型  号 K-200');
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
