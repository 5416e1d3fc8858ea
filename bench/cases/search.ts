import { embedText } from '../../simulators/openai/feature-hash.ts';
import { dimensions } from '../../test/support/vectors.ts';
import { measureAlternately, type Bench } from '../bench.ts';
import type { HttpExchange } from '../load.ts';
import { readQuestionSet, setNames } from '../question-sets.ts';
import { toVerbatimRecipe, type RecordedCall } from '../recipe.ts';
import { recordedCalls } from '../record.ts';
import { percentile } from '../statistics.ts';
import type { TargetedFigure } from '../targets.ts';
import type { SearchRecipe } from '../workers/floor-knowledge.ts';
import { fillKnowledgeBase } from './fill-knowledge-base.ts';

/** How many of the nearest chunks the index is asked for when a search wants five. */
const topK = 20;
const path = '/api/v1/knowledge-base/search';

const parts = ['index', 'words', 'rows'] as const;
const sides = ['service', 'floor', ...parts, 'nothing'] as const;
type Side = (typeof sides)[number];

/** One search after the other, without the time that the model takes, and what each of its parts takes alone. */
export async function measureSearch(bench: Bench): Promise<TargetedFigure[]> {
  const { searchedChunks, searches, searchRounds } = bench.pace;
  bench.progress(`A knowledge base of ${searchedChunks} chunks`);
  await fillKnowledgeBase(bench, searchedChunks);
  const sets = setNames.map(readQuestionSet);
  const questions = sets.flatMap(({ entries }) => entries.map(({ question }) => question)).slice(0, searches);
  await giveSearches(bench, questions);
  bench.progress(`${questions.length} searches, ${searchRounds} rounds`);
  const times = await measureAlternately(searchRounds, sides, async (side) => {
    const milliseconds: number[] = [];
    for (const [number, question] of questions.entries()) milliseconds.push(await timeOf(bench, side, number, question));
    return milliseconds;
  });
  const of = (side: Side, rank: number) => times[side].map((round) => percentile(round, rank));
  const floorDoes = 'asks the index, makes the two calls to D1, answers the rows as they are';
  const name = `POST ${path.slice('/api/v1'.length)} over ${searchedChunks} chunks, model time excluded`;
  const nothing = of('nothing', 0.5);
  const part = (side: Side, what: string): TargetedFigure => ({
    name: `${what}, alone and beyond an empty request: p50`,
    unit: 'ms',
    service: of(side, 0.5).map((time, round) => time - nothing[round]!),
  });
  return [
    { name: `${name}: p50`, unit: 'ms', service: of('service', 0.5), floor: of('floor', 0.5), floorDoes },
    { name: `${name}: p95`, unit: 'ms', service: of('service', 0.95), floor: of('floor', 0.95), floorDoes },
    part('index', 'of it the scan of the index'),
    part('words', 'of it the words, by FTS5 in D1'),
    part('rows', 'of it the rows of the chunks, from D1'),
  ];
}

/** Has each question searched by the recording service, and gives the floor what that asked of D1. */
async function giveSearches(bench: Bench, questions: string[]): Promise<void> {
  const { clients, headers } = bench;
  const { id } = await clients.service.json<{ id: number }>({ method: 'GET', path: '/api/v1/organizations/current', headers });
  await clients.recording.call(searchFor(headers, questions[0]!));
  await recordedCalls(bench);
  for (const [number, question] of questions.entries()) {
    const { words, rows } = await recordSearch(bench, question);
    const recipe: SearchRecipe = {
      index: String(id),
      vector: [...embedText(question, dimensions, dimensions)],
      topK,
      words: toVerbatimRecipe(words),
      rows: toVerbatimRecipe(rows),
    };
    await clients.floor.call({ method: 'PUT', path: `/searches/${number}`, body: JSON.stringify(recipe) });
  }
}

const isOfWords = ({ statements }: RecordedCall) => statements.some(({ sql }) => sql.includes(' MATCH '));

/** The two calls to D1 of a search. Now and then a request also reads its key again; the next one does not. */
async function recordSearch(bench: Bench, question: string): Promise<{ words: RecordedCall; rows: RecordedCall }> {
  let calls: RecordedCall[] = [];
  for (let tries = 0; tries < 2; tries++) {
    await bench.clients.recording.call(searchFor(bench.headers, question));
    calls = await recordedCalls(bench);
    const [words, rows] = [calls.find(isOfWords), calls.find((call) => !isOfWords(call))];
    if (calls.length === 2 && words && rows) return { words, rows };
  }
  const made = calls.flatMap(({ statements }) => statements.map(({ sql }) => sql)).join('\n');
  throw new Error(`A search made ${calls.length} calls to D1, and the floor is made for one of words and one of rows:\n${made}`);
}

const searchFor = (headers: Record<string, string>, query: string): HttpExchange => ({
  method: 'POST',
  path,
  headers,
  body: JSON.stringify({ query }),
});

async function timeOf({ clients, headers, rig }: Bench, side: Side, number: number, question: string): Promise<number> {
  const { embeddingMs } = rig.model;
  embeddingMs.length = 0;
  const exchange = (): HttpExchange => {
    if (side === 'service') return searchFor(headers, question);
    if (side === 'nothing') return { method: 'GET', path: '/health' };
    return { method: 'POST', path: `/searches/${number}/${side === 'floor' ? 'all' : side}`, body: '{}' };
  };
  const startedAt = performance.now();
  await clients[side === 'service' ? 'service' : 'floor'].call(exchange());
  const milliseconds = performance.now() - startedAt;
  if (embeddingMs.length !== Number(side === 'service')) throw new Error(`A search asked the model ${embeddingMs.length} times`);
  return milliseconds - (embeddingMs[0] ?? 0);
}
