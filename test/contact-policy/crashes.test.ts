// @module-tag soak
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { placeCalls } from '../../src/calls/placing/place-calls.ts';
import { Database } from '../../src/database/client.ts';
import { callingOrganization, carrierLedger, relayCallbacks } from '../support/carrier.ts';

afterEach(() => vi.restoreAllMocks());

let block = 800;
/** A number that is busy, as the simulated carrier has it. */
const busy = () => `+1217${++block}0001`;
const never = new Promise<never>(() => {});

/** D1 calls of a worker that dies at the n-th of them: the call, or its answer, never comes. */
function dyingDatabase(n: number, moment: 'before' | 'after') {
  const seen = { calls: 0 };
  const watched = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    const isLast = ++seen.calls === n;
    if (isLast && moment === 'before') return never;
    const answer = await call();
    return isLast ? never : answer;
  };
  const statement = (made: D1PreparedStatement): object => ({
    made,
    bind: (...values: unknown[]) => statement(made.bind(...values)),
    all: () => watched(() => made.all()),
    raw: () => watched(() => made.raw()),
    run: () => watched(() => made.run()),
  });
  const binding = {
    prepare: (sql: string) => statement(env.DB.prepare(sql)),
    batch: (statements: { made: D1PreparedStatement }[]) => watched(() => env.DB.batch(statements.map(({ made }) => made))),
  };
  return { seen, database: new Database(binding as unknown as D1Database, false) };
}

const decisionsOf = async (organizationId: number): Promise<any[]> =>
  (await env.DB.prepare('SELECT * FROM contact_decision WHERE organization_id = ? ORDER BY id').bind(organizationId).all()).results;

describe('a worker that places a call under a contact policy and dies', () => {
  for (const moment of ['before', 'after'] as const)
    test(`at any call to D1 (${moment} it) contacts nobody beyond a limit, and keeps no reservation of a call that never was`, async () => {
      let hasDied = true;
      for (let n = 1; hasDied && n < 20; n++) {
        const { id, client, agentId, account } = await callingOrganization();
        await client.put('/organizations/contact-policy', { limits: [{ channel: 'call', max: 1, per: 'P1D' }] });
        const sends = vi.spyOn(env.CALLS_QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
        const phone = busy();
        const first = (await client.post(`/workflow/${agentId}/runs`, { mode: 'telephony', phone })).body.id as number;
        const slots = env.CALL_SLOTS.getByName(String(id));
        const [{ attempt_key: key }] = (
          await env.DB.prepare('SELECT attempt_key FROM voice_agent_run WHERE id = ?').bind(first).all<{ attempt_key: string }>()
        ).results as [{ attempt_key: string }];
        const { seen, database } = dyingDatabase(n, moment);
        const context = { ...(await backgroundContext(env, id, () => {}))!, database };
        // Until the call is granted, there is nothing to place.
        await vi.waitFor(async () => expect(await slots.getCallStatus(key)).toMatchObject({ callStatus: 'dialing' }), { timeout: 5000 });
        void placeCalls(context, [key]).catch(() => {});
        sends.mockRestore();
        // The call slots find out what became of the call, by the carrier's callbacks or by asking it.
        await relayCallbacks(account, async () => (await client.get(`/workflow/${agentId}/runs/${first}`)).body.is_completed, 30_000);
        hasDied = seen.calls >= n;
        await vi.waitFor(
          async () => {
            const dialled = (await carrierLedger(account)).calls.length;
            const reserved = (await decisionsOf(id)).filter(({ state }) => state === 'reserved');
            expect(reserved, `call ${n}, ${moment}`).toHaveLength(dialled);
          },
          { timeout: 10_000 },
        );
        const before = (await carrierLedger(account)).calls.length;
        const second = (await client.post(`/workflow/${agentId}/runs`, { mode: 'telephony', phone })).body.id as number;
        await relayCallbacks(account, async () => (await client.get(`/workflow/${agentId}/runs/${second}`)).body.is_completed, 30_000);
        expect((await carrierLedger(account)).calls, `call ${n}, ${moment}`).toHaveLength(1);
        expect(before).toBeLessThanOrEqual(1);
      }
    }, 300_000);
});
