import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { fillOrganization } from '../support/fill-organization.ts';
import { askForMove, comparable, first, holdMoves, moveOf, moveUntil, rowsOf, second, stepMove, tracesOf } from '../support/moves.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

type Moment = 'before' | 'after';

/** Bindings whose isolate dies at its n-th call to a database, before the call or when it is done. Nothing is called afterwards. */
function mortal(n: number, moment: Moment): { bindings: Env; seen: { calls: number; died: boolean } } {
  const seen = { calls: 0, died: false };
  const through = async <T>(call: () => Promise<T>): Promise<T> => {
    seen.calls++;
    if (seen.died || (seen.calls === n && moment === 'before')) {
      seen.died = true;
      throw new Error('the isolate died');
    }
    const answer = await call();
    if (seen.calls !== n) return answer;
    seen.died = true;
    throw new Error('the isolate died');
  };
  const watched = (real: D1Database) => {
    const reals = new WeakMap<object, D1PreparedStatement>();
    const wrapped = (statement: D1PreparedStatement): D1PreparedStatement => {
      const own = {
        bind: (...values: unknown[]) => wrapped(statement.bind(...values)),
        all: () => through(() => statement.all()),
        raw: () => through(() => statement.raw()),
        run: () => through(() => statement.run()),
      } as unknown as D1PreparedStatement;
      reals.set(own, statement);
      return own;
    };
    return {
      prepare: (sql: string) => wrapped(real.prepare(sql)),
      batch: (statements: D1PreparedStatement[]) => through(() => real.batch(statements.map((one) => reals.get(one)!))),
    } as unknown as D1Database;
  };
  return { bindings: { ...env, DB: watched(first), DB_1: watched(second) } as Env, seen };
}

/** An organization with a row in every table, whose move is in `phase`. */
async function movingIn(phase: string) {
  holdMoves();
  const organization = await newOrganization({ shard: 0 });
  await fillOrganization(organization.id, organization.userId, first);
  const { failed_message: _, ...before } = comparable(await rowsOf(first, organization.id));
  await askForMove(organization.id);
  await moveUntil(organization.id, phase);
  return { ...organization, before };
}

/** Dies once in a message that comes in `phase`. Whether the message was still at work at its n-th call. */
async function crashIn(phase: string, n: number, moment: Moment): Promise<boolean> {
  const { id, client, before } = await movingIn(phase);
  const { bindings, seen } = mortal(n, moment);
  await stepMove(id, bindings).catch((error: unknown) => expect(String(error)).toContain('the isolate died'));
  // A message may go on from `left` to the end.
  if (phase !== 'left') await moveUntil(id, 'left');
  if ((await moveOf(id)).phase !== 'left') return expectEnd(id, client, seen.died);
  const { failed_message: failed, organization_usage: usage, ...moved } = comparable(await rowsOf(second, id));
  expect(moved, `${phase} ${moment} ${n}`).toEqual(before);
  expect(Number(usage?.[0]?.['events_count'])).toBe(1);
  expect(failed?.filter(({ key }) => String(key).startsWith('event:'))).toHaveLength(1);
  return expectEnd(id, client, seen.died);
}

async function expectEnd(id: number, client: Client, died: boolean): Promise<boolean> {
  await moveUntil(id, 'moved');
  expect(await rowsOf(first, id)).toEqual({});
  expect(Object.keys(await rowsOf(second, id)).length).toBeGreaterThan(30);
  expect([await tracesOf(first, id), await tracesOf(second, id)]).toEqual([[], []]);
  expect((await client.post('/contacts', { phone: newPhone() })).status).toBe(201);
  return died;
}

test.each([
  ['asked', 3, 'before'],
  ['asked', 5, 'after'],
  ['asked', 60, 'after'],
  ['fenced', 4, 'after'],
  ['fenced', 9, 'before'],
  ['left', 4, 'after'],
  ['left', 30, 'after'],
] as const)('a worker that dies in %s at its call %d to a database, %s it, is followed by another', async (phase, n, moment) => {
  expect(await crashIn(phase, n, moment)).toBe(true);
});

/** Every call would take a quarter of an hour. Each run tries others, and a failure names its own. */
const callsPerTry = 8;

test(
  'a worker that dies while the organization changes shards is followed by another, at calls all over the move',
  { tags: 'soak', timeout: 600_000 },
  async () => {
    const start = 1 + Math.floor(Math.random() * callsPerTry);
    for (const phase of ['asked', 'fenced', 'left'])
      for (const moment of ['before', 'after'] as const) for (let n = start; await crashIn(phase, n, moment); n += callsPerTry);
  },
);

test('a worker that dies while it calls a move off is followed by another', async () => {
  for (const [n, moment] of [
    [3, 'after'],
    [6, 'before'],
    [8, 'after'],
    [60, 'after'],
  ] as const) {
    const { id, client, before } = await movingIn('fenced');
    await env.DB.prepare("UPDATE organization_move SET phase = 'cancelling', step = 0, cursor = NULL, due_at = 0 WHERE subject_id = ?")
      .bind(id)
      .run();
    await stepMove(id, mortal(n, moment).bindings).catch(() => undefined);
    await moveUntil(id, 'cancelled');
    const { failed_message: _, ...rows } = comparable(await rowsOf(first, id));
    expect(rows).toEqual(before);
    expect([await rowsOf(second, id), await tracesOf(first, id), await tracesOf(second, id)]).toEqual([{}, [], []]);
    expect((await client.post('/contacts', { phone: newPhone() })).status).toBe(201);
    expect((await moveOf(id)).phase).toBe('cancelled');
  }
});
