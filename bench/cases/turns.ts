import { setTimeout as sleep } from 'node:timers/promises';
import { createPerson } from '../../simulators/telephony/person.ts';
import { RelaySession } from '../../simulators/telephony/relay-session.ts';
import type { Bench } from '../bench.ts';
import { accounts, SimulatedCarrier } from '../local/carrier.ts';
import { percentile } from '../statistics.ts';
import type { TargetedFigure } from '../targets.ts';
import { Campaign, toCampaignFile, phoneOf, waitUntil } from './campaigns.ts';

/** Simulated people hang up after this many turns. */
const turnsPerTalk = 20;
const concurrentTalks = 8;
/** The pause of a simulated person before each answer. */
const turnMs = 100;

/** The carrier's side of a talk: the texts of the person, and for each the time to the first word of the answer. */
interface ReceivedFrames {
  said: string[];
  firstWordMs: number[];
}

/** From the carrier's `prompt` to the first `text`, without the time that the model took. */
export async function measureTurns(bench: Bench): Promise<TargetedFigure[]> {
  const { talks } = bench.pace;
  bench.progress(`${talks * turnsPerTalk} turns in ${talks} talks, ${concurrentTalks} at once`);
  // The first talks only warm up.
  await serviceOverheads(bench, concurrentTalks);
  const service = await serviceOverheads(bench, talks);
  await talkWithFloor(bench, 'first', concurrentTalks);
  const floor = toOverheads(bench, await talkWithFloor(bench, 'second', talks));
  const name = `From what a person has said to the first word, model time excluded, ${service.length} turns, ${concurrentTalks} talks at once`;
  const floorDoes = 'a socket in an object that asks the same model and sends each word on';
  const figure = (rank: number): TargetedFigure => ({
    name: `${name}: p${rank * 100}`,
    unit: 'ms',
    service: [percentile(service, rank)],
    floor: [percentile(floor, rank)],
    floorDoes,
  });
  return [figure(0.5), { ...figure(0.95), target: { atMost: 25 } }];
}

/** Makes calls in the service; returns the overhead of each turn beside the model, in ms. */
export const serviceOverheads = async (bench: Bench, talks: number): Promise<number[]> =>
  toOverheads(bench, await talkWithService(bench, talks));

const toScript = (talk: string): string[] =>
  Array.from({ length: turnsPerTalk }, (_, turn) => `Talk ${talk}, turn ${turn}: and could somebody carry it up to the second floor?`);

/** How many people have been called so far: no two talks are the same. */
let called = 0;

async function talkWithService(bench: Bench, talks: number): Promise<ReceivedFrames[]> {
  const carrier = new SimulatedCarrier(bench.rig.outside);
  await carrier.behave({ ring_ms: 100, turn_ms: turnMs });
  const from = called;
  for (; called < from + talks; called++) await carrier.teach(phoneOf(called, 'person'), toScript(`of the service ${called}`));
  const campaign = await Campaign.draft(bench, 'service', toCampaignFile(from, talks, 'person'), concurrentTalks);
  await campaign.act('start');
  await waitUntil('every talk is over', 120_000, async () => (await campaign.read()).state === 'completed', 500);
  return (await carrier.callsOf(accounts.service)).map(({ transcript, first_token_ms }) => ({
    said: transcript.filter(({ speaker }) => speaker === 'person').map(({ text }) => text),
    firstWordMs: first_token_ms,
  }));
}

async function talkWithFloor({ rig }: Bench, round: string, talks: number): Promise<ReceivedFrames[]> {
  const waiting = Array.from({ length: talks }, (_, talk) => `${round}-${talk}`).values();
  const received: ReceivedFrames[] = [];
  const line = async () => {
    for (const talk of waiting) {
      const talked: ReceivedFrames = { said: [], firstWordMs: [] };
      received.push(talked);
      const url = `${rig.origins.floor.origin.replace('http', 'ws')}/talk/${talk}`;
      const session = new RelaySession(
        {
          url,
          headers: { 'x-model': `${rig.model.url}/v1/chat/completions` },
          setup: { type: 'setup' },
          language: 'en-US',
          hasDtmf: false,
        },
        createPerson({ declines: false, hangsUpAfterGreeting: false, script: toScript(`of the floor ${talk}`) }),
        { turnMs, maxSilenceMs: 15_000 },
        {
          opened: () => undefined,
          spoken: (speaker, text) => void (speaker === 'person' && talked.said.push(text)),
          answered: (ms) => void talked.firstWordMs.push(ms),
          problem: (text) => console.error(`A talk with the floor: ${text}`),
        },
      );
      await session.outcome;
      await sleep(100);
    }
  };
  await Promise.all(Array.from({ length: concurrentTalks }, line));
  return received;
}

/** Throws unless the model answered every turn. */
function toOverheads({ rig }: Bench, talks: ReceivedFrames[]): number[] {
  const overheads = talks.flatMap(({ said, firstWordMs }) => {
    if (said.length !== turnsPerTalk || firstWordMs.length !== turnsPerTalk)
      throw new Error(`Of a talk of ${turnsPerTalk} turns ${said.length} were said and ${firstWordMs.length} answered`);
    return said.map((text, turn) => {
      const answering = rig.model.answers.get(text);
      if (!answering) throw new Error(`The model was not asked what to answer to "${text}"`);
      return firstWordMs[turn]! - (answering.firstWordAt - answering.askedAt);
    });
  });
  return overheads;
}
