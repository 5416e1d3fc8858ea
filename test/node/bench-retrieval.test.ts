import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findEntry, toPage, readQuestionSet, licenceOf, listSentences, qualitySetNames } from '../../bench/question-sets.ts';
import { isHybridBest, measureQuality, retrievalSection, measureRecall, type Quality } from '../../bench/retrieval.ts';
import { projectDirectory } from '../../scripts/local/settings.ts';
import { chunkDocument } from '../../src/knowledge-base/chunks/chunk-document.ts';
import { parseDocument } from '../../src/knowledge-base/parsing/parse-document.ts';

describe('the quality of answers', () => {
  test('is the share of passages among the first five, and the mean of one divided by their places', () => {
    expect(measureQuality([1, 1, 2, 4])).toEqual({ recallAt5: 1, meanReciprocalRank: (1 + 1 + 1 / 2 + 1 / 4) / 4 });
    expect(measureQuality([5, 6, 10, null])).toEqual({ recallAt5: 1 / 4, meanReciprocalRank: (1 / 5 + 1 / 6 + 1 / 10) / 4 });
    expect(measureQuality([11])).toEqual({ recallAt5: 0, meanReciprocalRank: 0 });
  });

  test('lies between 0 and 1, and is no worse when a passage stands higher', () => {
    const places = fc.array(fc.option(fc.integer({ min: 1, max: 20 })), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(places, fc.nat(), (found, which) => {
        const quality = measureQuality(found);
        const at = which % found.length;
        const better = measureQuality(found.with(at, found[at] === null ? 20 : Math.max(1, found[at]! - 1)));
        for (const measure of ['recallAt5', 'meanReciprocalRank'] as const) {
          expect(quality[measure]).toBeGreaterThanOrEqual(0);
          expect(quality[measure]).toBeLessThanOrEqual(1);
          expect(better[measure]).toBeGreaterThanOrEqual(quality[measure]);
        }
      }),
    );
  });

  const quality = (recallAt5: number, meanReciprocalRank: number): Quality => ({ recallAt5, meanReciprocalRank });
  const retrieval = (hybrid: Quality, vector: Quality, keyword: Quality) => ({
    set: 'some',
    questions: 100,
    chunks: 120,
    qualities: { hybrid, vector, keyword },
    plain: quality(0.3, 0.2),
  });

  test('of hybrid must be that of the better of the two by both measures', () => {
    expect(isHybridBest(retrieval(quality(0.8, 0.6), quality(0.8, 0.5), quality(0.7, 0.6)))).toBe(true);
    expect(isHybridBest(retrieval(quality(0.8, 0.59), quality(0.8, 0.5), quality(0.7, 0.6)))).toBe(false);
    expect(isHybridBest(retrieval(quality(0.79, 0.7), quality(0.8, 0.5), quality(0.7, 0.6)))).toBe(false);
  });

  test('is shown side by side, and says NO where hybrid is worse', () => {
    const better = retrieval(quality(0.8, 0.6), quality(0.7, 0.5), quality(0.6, 0.4));
    const worse = retrieval(quality(0.5, 0.4), quality(0.7, 0.5), quality(0.6, 0.4));
    const [first, second] = retrievalSection([better, worse]).slice(-2);
    expect(first).toMatch(/some .* 100 .* 120 .* 0\.800 .* 0\.700 .* 0\.600 .* 0\.600 .* 0\.500 .* 0\.400 .* 0\.300 .* 0\.200 .* yes/);
    expect(second).toMatch(/0\.500 .* NO/);
  });
});

test('the share of true answers found does not depend on their order', () => {
  expect(
    measureRecall(
      [
        [3, 2, 1],
        [4, 9, 8],
      ],
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
    ),
  ).toBe(4 / 6);
});

describe.each(qualitySetNames)('the questions of %s', (name) => {
  const set = readQuestionSet(name);

  test('are many, each once, with their licence beside them', () => {
    expect(set.entries.length).toBeGreaterThan(90);
    expect(new Set(set.entries.map(({ question }) => question)).size).toBe(set.entries.length);
    expect(existsSync(join(projectDirectory, 'bench', 'data', licenceOf(name)))).toBe(true);
  });

  test('are asked of chunks that each hold a part of one answer, and each answer has some', async () => {
    const answers = set.entries.map(({ answer }) => answer);
    const chunks = chunkDocument(await parseDocument(new TextEncoder().encode(toPage(name, answers)), `${name}.html`));
    const entries = chunks.map(({ metadata }) => findEntry(metadata.headings));
    expect(new Set(entries)).toEqual(new Set(answers.keys()));
    for (const [index, { chunk_text }] of chunks.entries()) {
      const words = chunk_text.replace(/^Passage \d+/, '').match(/\p{L}+/gu) ?? [];
      for (const word of words) expect(answers[entries[index]!]).toContain(word);
    }
  });
});

test('a chunk below other headings belongs to no entry', () => {
  expect(findEntry([])).toBeNull();
  expect(findEntry(['Passage 3', 'Passages'])).toBeNull();
  expect(findEntry(['a page', 'Passage 3'])).toBe(2);
});

test('sentences have no code in them', () => {
  const entries = [
    { question: '', answer: 'One is written like this here.\nAnd a second follows it!\n\n  x = {1: 2}  # no sentence at all' },
  ];
  expect(listSentences([{ name: 'some', entries }])).toEqual(['One is written like this here.']);
});
