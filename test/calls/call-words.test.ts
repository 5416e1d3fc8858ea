import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { toCallMatch, toCallWords } from '../../src/calls/listing/call-words.ts';
import type { Utterance } from '../../src/voice-agents/conversation/transcript.ts';

const said = (...texts: string[]): Utterance[] =>
  texts.map((text, index) => ({
    speaker: index % 2 ? 'person' : 'agent',
    text,
    at: '2026-11-23T09:00:00.000Z',
    node_id: 'start',
    is_cut: false,
  }));

let lastId = 2 ** 50;

/** Which of the calls, by their words, full-text search finds. */
async function found(organizationId: number, words: string[], text: string): Promise<number[]> {
  const first = lastId + 1;
  lastId += words.length;
  for (const [index, own] of words.entries())
    await env.DB.prepare('INSERT INTO call_search (rowid, scope, text) VALUES (?, ?, ?)')
      .bind(first + index, `organization${organizationId}`, own)
      .run();
  const match = toCallMatch(organizationId, text);
  if (match === null) return [];
  const { results } = await env.DB.prepare(
    'SELECT rowid AS id FROM call_search WHERE call_search MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid',
  )
    .bind(match, first, lastId)
    .all<{ id: number }>();
  return results.map(({ id }) => id - first);
}

test('a call is found by words of the agent, of the person and of the summary, in any order and in their usual forms', async () => {
  const words = [
    toCallWords(said('Do you want an offer for heat pumps?', 'Yes, call me on Monday'), 'The person asked for an offer'),
    toCallWords(said('Do you want an offer for solar roofs?', 'No'), null),
  ];
  expect(await found(7, words, 'offer')).toEqual([0, 1]);
  expect(await found(7, words, 'MONDAY pump')).toEqual([0]);
  expect(await found(7, words, 'asked offers')).toEqual([0]);
  expect(await found(7, words, 'Monday roofs')).toEqual([]);
});

test("another organization's calls are never found", async () => {
  const words = [toCallWords(said('offer'), null)];
  expect(await found(71, words, 'offer')).toEqual([0]);
  const { results } = await env.DB.prepare('SELECT rowid FROM call_search WHERE call_search MATCH ? AND rowid = CAST(? AS INTEGER)')
    .bind(toCallMatch(7, 'offer')!, lastId)
    .all();
  expect(results).toEqual([]);
});

test('accents make no difference, and words of scripts without blanks are found inside of sentences', async () => {
  const words = [
    toCallWords(said('Où est l’hôtel ?', 'À côté'), null),
    toCallWords(said('返品をお願いします'), null),
    toCallWords(said('मुझे दिन में फ़ोन करें'), null),
  ];
  expect(await found(7, words, 'hotel COTE')).toEqual([0]);
  expect(await found(7, words, '返品')).toEqual([1]);
  expect(await found(7, words, '願')).toEqual([1]);
  expect(await found(7, words, 'す')).toEqual([1]);
  expect(await found(7, words, '品返')).toEqual([]);
  expect(await found(7, words, 'दिन')).toEqual([2]);
  expect(await found(7, words, 'दान')).toEqual([]);
});

test('a text without letters and digits has no words; operators of the search language are words', async () => {
  for (const text of ['', '  ', '"', '*** !?', '-']) expect(toCallMatch(7, text)).toBeNull();
  const words = [toCallWords(said('do not call or near'), null)];
  expect(await found(7, words, 'NOT call')).toEqual([0]);
  expect(await found(7, words, 'NEAR OR "call*')).toEqual([0]);
  expect(await found(7, words, 'scope : organization8')).toEqual([]);
});

test('any text is a query that the search takes, and a call is found by any words of its own', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 60 }), async (text) => {
      const hasWords = toCallMatch(7, text) !== null;
      expect(await found(7, [toCallWords(said(text), null)], text)).toEqual(hasWords ? [0] : []);
    }),
    { numRuns: 150 },
  );
});

test('the words of a very long call fit into one value of the database', () => {
  const letters = Array.from({ length: 400_000 }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000))).join('');
  expect(new TextEncoder().encode(toCallWords(said(letters), null)).byteLength).toBeLessThan(2_000_000);
});
