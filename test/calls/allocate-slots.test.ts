import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countFreeForOutbound, ownerQueueRank, allocateSlots, type OwnerQueue } from '../../src/calls/slots/allocate-slots.ts';

const lane = (name: string, more: Partial<OwnerQueue> = {}): OwnerQueue => ({
  name,
  rank: ownerQueueRank(name),
  live: 0,
  maxLive: null,
  ready: 100,
  ...more,
});
const allocated = (lanes: OwnerQueue[], free: number) => Object.fromEntries(allocateSlots(lanes, free));

describe('free slots', () => {
  it('go to single calls first, then to the lane with the fewest live calls', () => {
    expect(allocated([lane('campaign:1'), lane('journey'), lane('single', { ready: 2 })], 2)).toEqual({ single: 2 });
    expect(allocated([lane('campaign:1', { live: 3 }), lane('campaign:2'), lane('journey', { live: 1 })], 6)).toEqual({
      'campaign:2': 3,
      journey: 3,
    });
  });

  it('are never allocated beyond the free slots, the ready calls, or the limit of a lane', () => {
    const lanes = fc.uniqueArray(
      fc.record({
        name: fc.constantFrom('single', 'journey', 'campaign:1', 'campaign:2', 'campaign:3'),
        live: fc.nat(20),
        maxLive: fc.option(fc.nat(20)),
        ready: fc.nat(30),
      }),
      { selector: ({ name }) => name },
    );
    fc.assert(
      fc.property(lanes, fc.nat(60), (some, free) => {
        const queues = some.map((one) => ({ ...one, rank: ownerQueueRank(one.name) }));
        const shares = allocateSlots(queues, free);
        const room = queues.map(({ live, maxLive, ready }) => Math.min(ready, maxLive === null ? ready : Math.max(0, maxLive - live)));
        const total = [...shares.values()].reduce((sum, count) => sum + count, 0);
        // No slot is left unused while a lane could use it.
        expect(total).toBe(
          Math.min(
            free,
            room.reduce((sum, count) => sum + count, 0),
          ),
        );
        for (const [index, { name }] of queues.entries()) expect(shares.get(name) ?? 0).toBeLessThanOrEqual(room[index]!);
      }),
    );
  });

  it('leave a tenth to inbound calls if a number accepts them, and nothing otherwise', () => {
    expect(countFreeForOutbound({ limit: 10, hasInbound: false }, { all: 0, inbound: 0 })).toBe(10);
    expect(countFreeForOutbound({ limit: 10, hasInbound: true }, { all: 0, inbound: 0 })).toBe(9);
    expect(countFreeForOutbound({ limit: 10, hasInbound: true }, { all: 1, inbound: 1 })).toBe(9);
    expect(countFreeForOutbound({ limit: 10, hasInbound: true }, { all: 10, inbound: 2 })).toBe(0);
  });
});
