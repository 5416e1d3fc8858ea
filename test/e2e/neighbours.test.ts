import { afterAll, beforeAll, expect, test } from 'vitest';
import { tickEachMinute } from '../../scripts/local/minute-tick.ts';
import { BusyNeighbour } from './busy-neighbour.ts';
import { KillableService } from './killable-service.ts';
import { narration } from './narration.ts';
import { QuietNeighbour, type Probe } from './quiet-neighbour.ts';
import { setTimeout as sleep } from 'node:timers/promises';

const phaseMs = 30_000;

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

test(
  'whatever one organization does at its worst, no event, webhook, search or minute of another is lost',
  { timeout: 600_000 },
  async () => {
    const quiet = await QuietNeighbour.create(service);
    const busy = await BusyNeighbour.create(service);
    void tickEachMinute(new URL(service.baseUrl).origin, ticking.signal, say).catch(() => undefined);
    // Every second phase has the start of a minute in its midst.
    const second = Date.now() % 60_000;
    await sleep((105_000 - second) % 60_000);
    say('quiet');
    await quiet.probe('quiet', phaseMs);
    const only = process.env['NEIGHBOURS'];
    for (const [name, burden] of busy.burdens) {
      if (only !== undefined && !name.includes(only)) continue;
      say(name);
      await Promise.all([quiet.probe(name, phaseMs), burden(Date.now() + phaseMs)]);
    }
    for (const failure of quiet.failures.slice(0, 20)) say(failure);
    expect(quiet.failures).toEqual([]);
    const kept = await quiet.requireNothingLost();
    say(`${kept.events} events, ${kept.webhooks} webhooks and ${kept.minutes} minutes, each once`);
    say(`the other was answered ${[...busy.answers].map(([status, count]) => `${status} ${count} times`).join(', ')}`);
    const [alone, ...burdened] = quiet.figures();
    const shown = (times: Partial<Record<Probe, number>>) =>
      Object.entries(times)
        .map(([probe, time]) => `${probe} ${time.toFixed(1)} ms`)
        .join(', ');
    say(`quiet: p99 of ${shown(alone!.p99)}`);
    for (const { name, p99 } of burdened) say(`${name}: p99 of ${shown(p99)}`);
  },
);
