import type { Bench } from '../bench.ts';
import type { AnswerTimes } from '../local/model.ts';
import { percentile } from '../statistics.ts';
import type { TargetedFigure } from '../targets.ts';
import { waitUntil } from './campaigns.ts';
import { toSystemPrompt, TestAgents } from './test-agents.ts';

const turnsPerTalk = 20;
const concurrentTalks = 8;

/** Measures the time of each turn without the model's time: from the stored words of one side until the stored words of the other side. */
export async function measureTestTurns(bench: Bench): Promise<TargetedFigure[]> {
  const { testTalks: talks } = bench.pace;
  bench.progress(`${talks * turnsPerTalk} turns in ${talks} test sessions, ${concurrentTalks} at once`);
  const agents = await TestAgents.create(bench, 'service');
  const inService = (talk: string) => talkInService(agents, talk);
  const onFloor = (talk: string) => talkOnFloor(bench, talk);
  // The first sessions only warm up.
  await overheads(bench, 'first-service', concurrentTalks, inService);
  const service = await overheads(bench, 'service', talks, inService);
  await overheads(bench, 'first-floor', concurrentTalks, onFloor);
  const floor = await overheads(bench, 'floor', talks, onFloor);
  const name = `A turn of a test session, model time excluded, ${service.length} turns, ${concurrentTalks} sessions at once`;
  const floorDoes = 'an object that asks the same model turn after turn, and stores one row for each';
  return [0.5, 0.95].map((rank) => ({
    name: `${name}: p${rank * 100}`,
    unit: 'ms',
    service: [percentile(service, rank)],
    floor: [percentile(floor, rank)],
    floorDoes,
  }));
}

/** Has a talk of this name; returns when each turn was stored, in epoch ms. */
type Talk = (talk: string) => Promise<number[]>;

async function overheads({ rig }: Bench, side: string, talks: number, talkOf: Talk): Promise<number[]> {
  const waiting = Array.from({ length: talks }, (_, index) => `${side}-${index}`).values();
  const found: number[] = [];
  const line = async () => {
    for (const talk of waiting) found.push(...toOverheads(await talkOf(talk), rig.model.talks.get(talk) ?? []));
  };
  await Promise.all(Array.from({ length: concurrentTalks }, line));
  return found;
}

/** Of every turn but the first, before which no other is. */
function toOverheads(moments: number[], answers: AnswerTimes[]): number[] {
  if (moments.length !== turnsPerTalk || answers.length !== turnsPerTalk)
    throw new Error(`Of a talk of ${turnsPerTalk} turns ${moments.length} were said, and ${answers.length} were the model's`);
  return moments.slice(1).map((at, index) => {
    const { askedAt, endedAt } = answers[index + 1]!;
    return at - moments[index]! - (endedAt - askedAt);
  });
}

async function talkInService(agents: TestAgents, talk: string): Promise<number[]> {
  const path = `/test-sessions/${await agents.startSession(talk, turnsPerTalk)}`;
  const hasEnded = async () => (await agents.read<{ status: string }>(path)).status !== 'running';
  await waitUntil('the session is over', 60_000, hasEnded, 500);
  const { conversation } = await agents.read<{ conversation: { transcript: { at: string }[] } }>(`${path}/conversation`);
  return conversation.transcript.map(({ at }) => Date.parse(at));
}

async function talkOnFloor({ rig, clients }: Bench, talk: string): Promise<number[]> {
  const path = `/test-talks/${talk}`;
  const url = `${rig.model.url}/v1/chat/completions`;
  const body = JSON.stringify({ url, system: toSystemPrompt(talk), turns: turnsPerTalk });
  await clients.floor.call({ method: 'PUT', path, body });
  const moments = () => clients.floor.json<number[]>({ method: 'GET', path });
  await waitUntil('the talk is over', 60_000, async () => (await moments()).length === turnsPerTalk, 500);
  return moments();
}
