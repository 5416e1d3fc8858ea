import { afterAll, beforeAll, expect, test } from 'vitest';
import { tickEachMinute } from '../../scripts/local/minute-tick.ts';
import { BusyNeighbour, type Burden } from './busy-neighbour.ts';
import { KillableService } from './killable-service.ts';
import { narration } from './narration.ts';
import { QuietNeighbour, type Probe } from './quiet-neighbour.ts';
import { setTimeout as sleep } from 'node:timers/promises';

const phaseMs = 30_000;
/**
 * How many times as long a probe may take as while the other organization does nothing. The promise is 5 times: `NEIGHBOURS_LIMIT=5` measures
 * each burden apart, on a machine that does nothing else. Other work on the machine makes every time long, so the limit is wide without the
 * variable, and burdens that cost little come in pairs.
 */
const limit = process.env['NEIGHBOURS_LIMIT'];
const maxSlowdown = Number(limit ?? 20);
const pairs = new Set(['unsigned and wrongly signed webhooks', 'large bodies of ill-formed text']);

const shown = (times: Partial<Record<Probe, number>>): string =>
  Object.entries(times)
    .map(([probe, time]) => `${probe} ${time.toFixed(1)} ms`)
    .join(', ');

type Figures = ReturnType<QuietNeighbour['figures']>;

/** What takes more than `maxSlowdown` times as long as in the quiet phases, which come first. */
const slowdowns = ([alone, ...burdened]: Figures) =>
  burdened.flatMap(({ name, p99 }) =>
    Object.entries(p99)
      .map(([probe, time]) => ({ name, probe, times: time / alone!.p99[probe as Probe]! }))
      .filter(({ times }) => !(times <= maxSlowdown)),
  );

/** Joins a burden of `pairs` with the one before it, unless each is measured apart. */
function withPairs(burdens: [string, Burden][]): [string, Burden][] {
  const joined: [string, Burden][] = [];
  for (const [name, burden] of burdens) {
    const before = limit === undefined && pairs.has(name) ? joined.pop() : undefined;
    joined.push(
      before ? [`${before[0]}, and ${name}`, async (until) => void (await Promise.all([before[1](until), burden(until)]))] : [name, burden],
    );
  }
  return joined;
}

const say = narration();
const ticking = new AbortController();
let service: KillableService;

beforeAll(async () => {
  service = await KillableService.create({ LOG_LEVEL: 'error' });
});
afterAll(async () => {
  ticking.abort();
  await service?.remove();
});

test('whatever one organization does at its worst, another loses no event, webhook, search or minute', { timeout: 1_500_000 }, async () => {
  const quiet = await QuietNeighbour.create(service);
  const busy = await BusyNeighbour.create(service);
  void tickEachMinute(new URL(service.baseUrl).origin, ticking.signal, say).catch(() => undefined);
  /** Each phase has the start of a minute in its midst. */
  const phase = async (name: string, burden: (until: number) => Promise<void> = () => Promise.resolve()) => {
    await sleep((105_000 - (Date.now() % 60_000)) % 60_000);
    say(name);
    await Promise.all([quiet.probe(name, phaseMs), burden(Date.now() + phaseMs)]);
  };
  await phase('quiet');
  const only = process.env['NEIGHBOURS'];
  const burdens = withPairs([...busy.burdens].filter(([name]) => only === undefined || name.includes(only)));
  for (const [name, burden] of burdens) await phase(name, burden);
  await phase('quiet');
  const measure = async () => {
    for (const failure of quiet.failures.slice(0, 20)) say(failure);
    expect(quiet.failures).toEqual([]);
    const kept = await quiet.requireNothingLost();
    say(`${kept.events} events, ${kept.webhooks} webhooks and ${kept.minutes} minutes, each once`);
    say(`the other was answered ${[...busy.answers].map(([status, count]) => `${status} ${count} times`).join(', ')}`);
    const figures = quiet.figures();
    for (const { name, p99 } of figures) say(`${name}: p99 of ${shown(p99)}`);
    return figures;
  };
  const first = slowdowns(await measure());
  // The machine may have been busy with something else meanwhile: what is too slow is measured once more, and counts if it is so again.
  const again = burdens.filter(([name]) => first.some((slow) => slow.name === name));
  if (again.length === 0) return;
  for (const { name, probe, times } of first) say(`${name}: ${probe} takes ${times.toFixed(1)} times as long; it is measured once more`);
  await phase('quiet');
  for (const [name, burden] of again) await phase(`${name}, once more`, burden);
  expect(slowdowns(await measure()).filter(({ name }) => name.endsWith(', once more'))).toEqual([]);
});
