// @module-tag soak
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CallSlotsObject } from '../../durable-objects/call-slots/call-slots-object.ts';
import type { AttemptReport } from '../../src/calls/contract.ts';
import { withCallSlots } from '../../src/calls/rpc.ts';
import { callingOrganization, carrierLedger, relayCallbacks } from '../support/carrier.ts';

afterEach(() => vi.restoreAllMocks());

let block = 200;
const person = (digits: string) => `+1213${++block}${digits}`;

/** Makes the object die at its n-th outside call: to D1, the queue, or another object. */
async function dieAt(stub: DurableObjectStub<CallSlotsObject>, n: number, moment: 'before' | 'after') {
  const seen = { calls: 0, died: false };
  await runInDurableObject(stub, (instance, state) => {
    const object = instance as unknown as { env: Env };
    const real = object.env;
    const watched = async <T>(call: () => Promise<T>): Promise<T> => {
      const isLast = ++seen.calls === n;
      const die = () => {
        seen.died = true;
        state.abort('the object dies here');
        throw new Error('the object died');
      };
      if (isLast && moment === 'before') die();
      const answer = await call();
      if (isLast && moment === 'after') die();
      return answer;
    };
    const statement = (made: D1PreparedStatement): object => ({
      made,
      bind: (...values: unknown[]) => statement(made.bind(...values)),
      all: () => watched(() => made.all()),
      raw: () => watched(() => made.raw()),
      run: () => watched(() => made.run()),
    });
    const changed: Record<string, unknown> = {
      DB: {
        prepare: (sql: string) => statement(real.DB.prepare(sql)),
        batch: (statements: { made: D1PreparedStatement }[]) => watched(() => real.DB.batch(statements.map(({ made }) => made))),
      },
      CALLS_QUEUE: { sendBatch: (messages: never) => watched(() => real.CALLS_QUEUE.sendBatch(messages)) },
      CAMPAIGN: {
        getByName: (name: string) => {
          const campaign = env.CAMPAIGN.getByName(name);
          return { applyReports: (received: AttemptReport[]) => watched(() => campaign.applyReports(received)) };
        },
      },
    };
    object.env = new Proxy(real, { get: (target, name) => changed[String(name)] ?? Reflect.get(target, name) });
  });
  return seen;
}

describe('call slots that die', () => {
  for (const moment of ['before', 'after'] as const)
    it(`at any outside call (${moment} it) dial no person twice and lose no outcome`, async () => {
      const reports: AttemptReport[] = [];
      vi.spyOn(env.CAMPAIGN, 'getByName').mockImplementation(
        () => ({ applyReports: async (received: AttemptReport[]) => void reports.push(...structuredClone(received)) }) as never,
      );
      let hasDied = true;
      for (let n = 1; hasDied; n++) {
        const { id, account, agentId } = await callingOrganization();
        const slots = env.CALL_SLOTS.getByName(String(id));
        const key = `campaign:1:${n}:${moment}`;
        const calls = [{ key, phone: person('0001'), agentId, contactId: null, initialContext: '{}', name: 'A call', notAfter: null }];
        const request = { owner: { kind: 'campaign' as const, id: 1 }, epoch: 0, maxConcurrency: null, calls };
        // The first request creates the object to watch.
        await slots.request(id, { ...request, calls: [] });
        const seen = await dieAt(slots, n, moment);
        // The caller repeats its request when the call breaks.
        await withCallSlots(env, id, (object) => object.request(id, request));
        const isOver = async () => {
          if (seen.died) await env.CALL_SLOTS.getByName(String(id)).wakeStalled();
          const row = await env.DB.prepare('SELECT is_completed, outcome FROM voice_agent_run WHERE organization_id = ?').bind(id).first();
          return reports.some((report) => report.key === key && report.kind === 'ended') && row?.['is_completed'] === 1;
        };
        await relayCallbacks(account, isOver, 20_000);
        const ledger = await carrierLedger(account);
        expect(ledger.calls, `dead at call ${n}`).toHaveLength(1);
        expect(new Set(reports.flatMap((report) => (report.key === key && report.kind === 'ended' ? [report.outcome] : [])))).toEqual(
          new Set(['busy']),
        );
        hasDied = seen.died;
        if (n > 40) throw new Error('it calls the outside without end');
      }
    }, 120_000);
});
