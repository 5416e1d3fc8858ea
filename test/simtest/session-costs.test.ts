import { afterEach, expect, test, vi } from 'vitest';
import { countWrites } from '../support/count-writes.ts';
import { endedRow, inside, newSession, scripted, type SessionOptions } from './sessions.ts';

afterEach(() => vi.restoreAllMocks());

async function costOf(options: SessionOptions) {
  scripted();
  const session = await newSession(options);
  const written = await countWrites((look) => inside(session, look));
  await session.start();
  await endedRow(session);
  return written();
}

test('a turn costs one written row, and a session sixteen more', async () => {
  const short = await costOf({ config: { max_turns: 2 } });
  const long = await costOf({ config: { max_turns: 22 } });
  console.log(
    `rows written: ${long.object} in the object and ${long.d1Rows} in D1 for 22 turns, ${short.object} and ${short.d1Rows} for 2`,
  );
  expect((long.object - short.object) / 20).toBeLessThan(1.1);
  expect(short.object - 2).toBeLessThanOrEqual(16);
  expect(long.d1Rows).toBeLessThanOrEqual(6);
  // One of them reads the organization, which is known for a minute.
  expect(long.d1Calls).toBeLessThanOrEqual(3);
});

test('a wait between two turns costs three rows more', async () => {
  const [without, waiting] = [await costOf({ config: { max_turns: 12 } }), await costOf({ config: { max_turns: 12, turn_delay_ms: 10 } })];
  expect((waiting.object - without.object) / 12).toBeLessThanOrEqual(3);
});
