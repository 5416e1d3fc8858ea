import { setTimeout as sleep } from 'node:timers/promises';
import type { CallRecord } from '../../simulators/telephony/call-record.ts';
import { BareDialer } from '../bare-dialer.ts';
import type { Bench } from '../bench.ts';
import { accounts, SimulatedCarrier } from '../local/carrier.ts';
import type { TargetedFigure } from '../targets.ts';
import { Campaign, toCampaignFile, phoneOf, type CallOutcome } from './campaigns.ts';

interface Lines {
  name: string;
  ending: CallOutcome;
  slots: number;
  /** A slot is busy from its grant until it is freed. */
  target: number;
  /** Whether the carrier's calls are to reach it, too: where people answer, one local thread serves all sides of the talk. */
  isTargetOfLines: boolean;
  /** About how long a slot is taken by a call. */
  callSeconds: number;
  /** How the carrier behaves. */
  ringMs: string;
  turnMs: string;
  acceptMs: number;
}

/** `callSeconds` are averages; the length of a call depends on its number. */
const every: Lines[] = [
  {
    name: '100 slots, lines of 0.5 to 1.5 s that are busy',
    ending: 'busy',
    slots: 100,
    target: 0.95,
    isTargetOfLines: true,
    callSeconds: 1,
    ringMs: '500-1500',
    turnMs: '20',
    acceptMs: 0,
  },
  {
    name: '100 slots, calls of about 1 s: answered, greeted, and ended by the person',
    ending: 'hangsUp',
    slots: 100,
    target: 0.95,
    isTargetOfLines: false,
    callSeconds: 1,
    ringMs: '200-600',
    turnMs: '200-400',
    acceptMs: 0,
  },
  {
    name: '1000 slots, lines of 4 to 6 s that nobody answers, accepted after 100 ms',
    ending: 'noAnswer',
    slots: 1000,
    target: 0.9,
    isTargetOfLines: true,
    callSeconds: 5,
    ringMs: '4000-6000',
    turnMs: '20',
    acceptMs: 100,
  },
];

/** Measures which share of the time slots are in calls, in the middle of a campaign. */
export async function measureSlotUse(bench: Bench): Promise<TargetedFigure[]> {
  const figures: TargetedFigure[] = [];
  for (const lines of every) figures.push(...(await measureLines(bench, lines)));
  return figures;
}

async function measureLines(bench: Bench, lines: Lines): Promise<TargetedFigure[]> {
  const { name, slots, target, isTargetOfLines, ringMs, turnMs, acceptMs } = lines;
  bench.progress(`Slot use: ${name}`);
  const carrier = new SimulatedCarrier(bench.rig.outside);
  await carrier.behave({ ring_ms: ringMs, turn_ms: turnMs, accept_ms: acceptMs });
  const ours = await watchCampaign(bench, carrier, lines);
  const floor = await watchFloor(bench, carrier, lines);
  const floorDoes = 'a loop for each slot in one process: orders a call, waits for the callback of its end, orders the next';
  const goal = { target: { atLeast: target } };
  return [
    { name: `Slot use by granted slots: ${name}`, unit: '', ...goal, service: [ours.granted] },
    {
      name: `Slot use by the carrier's calls: ${name}`,
      unit: '',
      ...(isTargetOfLines && goal),
      service: [shareOf(ours, slots)],
      floor: [shareOf(floor, slots)],
      floorDoes,
    },
    { name: `Calls begun: ${name}`, unit: '/s', service: [begunPerSecond(ours)], floor: [begunPerSecond(floor)] },
  ];
}

/** The calls of a stretch of time in the middle. Moments in epoch ms. */
interface Watched {
  calls: CallRecord[];
  from: number;
  to: number;
}

/** Also returns the share of slots that the service reports as granted. */
async function watchCampaign(bench: Bench, carrier: SimulatedCarrier, lines: Lines): Promise<Watched & { granted: number }> {
  const { slots, callSeconds, ending } = lines;
  const rows = Math.ceil((slots / callSeconds) * (rampSeconds(lines) + bench.pace.slotSeconds + 3));
  const campaign = await Campaign.draft(bench, 'service', toCampaignFile(0, rows, ending), slots);
  await campaign.act('start');
  await sleep(rampSeconds(lines) * 1000);
  const live: number[] = [];
  const from = Date.now();
  while (Date.now() - from < bench.pace.slotSeconds * 1000) {
    const { state, state_reason, waiting } = await campaign.progress();
    if (state !== 'running') throw new Error(`The campaign whose slots are watched is ${state} (${state_reason})`);
    if (waiting) live.push(waiting.live);
    await sleep(pollMs);
  }
  const to = Date.now();
  await campaign.act('cancel');
  await campaign.untilQuiet();
  return { calls: await carrier.callsOf(accounts.service), from, to, granted: average(live) / slots };
}

const pollMs = 250;

async function watchFloor(bench: Bench, carrier: SimulatedCarrier, lines: Lines): Promise<Watched> {
  const { slots, ending } = lines;
  const { outside } = bench.rig;
  let number = 0;
  const dialer = new BareDialer({
    url: new URL(outside + carrier.callsPath(accounts.floor)),
    account: accounts.floor,
    slots,
    nextPhone: () => phoneOf(number++, ending),
  });
  await dialer.start();
  await sleep(rampSeconds(lines) * 1000);
  const from = Date.now();
  await sleep(bench.pace.slotSeconds * 1000);
  const to = Date.now();
  await dialer.stop();
  return { calls: await carrier.callsOf(accounts.floor), from, to };
}

/** Until calls no longer begin all at once. */
const rampSeconds = ({ callSeconds }: Lines): number => 2 + 2 * callSeconds;

function shareOf({ calls, from, to }: Watched, slots: number): number {
  const busyMs = calls.map(({ created_at, ended_at }) => Math.max(0, Math.min(ended_at ?? to, to) - Math.max(created_at, from)));
  return busyMs.reduce((sum, ms) => sum + ms, 0) / (slots * (to - from));
}

const begunPerSecond = ({ calls, from, to }: Watched): number =>
  calls.filter(({ created_at }) => created_at >= from && created_at < to).length / ((to - from) / 1000);

const average = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
