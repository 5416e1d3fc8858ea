import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { placeCalls } from '../../src/calls/placing/place-calls.ts';
import type { PlacingReport } from '../../src/calls/contract.ts';
import { ContactPolicyBody } from '../../src/contact-policy/policy.ts';
import { reserveContacts } from '../../src/contact-policy/reserve-contacts.ts';
import type { Context } from '../../src/context.ts';
import { Database } from '../../src/database/client.ts';
import { sendMessage, type MessageToSend } from '../../src/messaging/messages/send-message.ts';
import { logOf, messagingOrganization, takenFor } from '../messaging/accounts.ts';
import { callingOrganization, carrierLedger } from '../support/carrier.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { recordedDatabase } from '../support/recorded-database.ts';

afterEach(() => vi.restoreAllMocks());

const path = '/organizations/contact-policy';
const minute = 60_000;
const day = 24 * 60 * minute;
/** Tomorrow at 21:00 in UTC, when the quiet hours of `evenings` begin. */
const evening = Math.floor(Date.now() / day) * day + day + 21 * 60 * minute;
const evenings = {
  quiet_hours: { slots: [0, 1, 2, 3, 4, 5, 6].map((of) => ({ day_of_week: of, start_time: '21:00', end_time: '22:00' })) },
};
/** As `CALL_ASK_WITHIN_SECONDS` of the tests. */
const toleranceMs = 2000;

const newPerson = async (client: Client, phone = newPhone()): Promise<string> => {
  expect((await client.post('/contacts', { phone, custom_fields: { timezone: 'UTC' } })).body).toMatchObject({ phone });
  return phone;
};

const decisionsOf = async (organizationId: number) =>
  (await env.DB.prepare('SELECT * FROM contact_decision WHERE organization_id = ? ORDER BY id').bind(organizationId).all<any>()).results;

/** A context whose clock shows `clock.now`, which `beforeCall` may set before each call to D1. */
async function contextAt(organizationId: number, clock: { now: number }, beforeCall: (sql: string) => void): Promise<Context> {
  const context = (await backgroundContext(env, organizationId, () => {}))!;
  const binding = recordedDatabase(env.DB, { statements: [], calls: 0 }, async (sql) => beforeCall(sql.join('\n')));
  return { ...context, database: new Database(binding, true), clock: () => clock.now };
}

describe('a call is not dialled when, while the call slots are asked whether it is still wanted,', () => {
  let block = 900;

  /** Places a call that is prepared a second before `evening`; the answer of the call slots comes at `answeredAt`. */
  async function place({ policy, notAfter, answeredAt }: { policy: object; notAfter: number | null; answeredAt: number }) {
    const { id, client, agentId, account } = await callingOrganization();
    await client.put(path, policy);
    const phone = await newPerson(client, `+1218${++block}0001`);
    const granted = vi.spyOn(env.CALLS_QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
    const slots = env.CALL_SLOTS.getByName(String(id));
    const key = 'campaign:1:1:1';
    await slots.request(id, {
      owner: { kind: 'campaign', id: 1 },
      epoch: 0,
      maxConcurrency: null,
      calls: [{ key, phone, agentId, contactId: null, initialContext: '{}', name: 'A call', notAfter }],
    });
    await vi.waitFor(() => expect(granted).toHaveBeenCalled(), { timeout: 5000 });
    const clock = { now: evening - 1500 };
    const context = await contextAt(id, clock, () => (clock.now = evening - 1000));
    const placings: PlacingReport[] = [];
    const slow = {
      beginCalls: (keys: string[]) => slots.beginCalls(keys),
      filterWanted: async (keys: string[]) => {
        clock.now = answeredAt;
        return slots.filterWanted(keys);
      },
      recordPlacings: async (reports: PlacingReport[]) => void placings.push(...reports),
    };
    await placeCalls({ ...context, bindings: { ...env, CALL_SLOTS: { getByName: () => slow } } as unknown as Env }, [key]);
    return { placings, dialled: (await carrierLedger(account)).calls.length };
  }

  test('its calling window closes', async () => {
    const { placings, dialled } = await place({ policy: {}, notAfter: evening, answeredAt: evening });
    expect(dialled).toBe(0);
    expect(placings).toMatchObject([{ refused: 'window_closed' }]);
  });

  test('quiet hours begin', async () => {
    const { placings, dialled } = await place({ policy: evenings, notAfter: null, answeredAt: evening });
    expect(dialled).toBe(0);
    expect(placings).toMatchObject([{ result: { unasked: expect.stringMatching(/^quiet hours/) } }]);
  });

  test('its time to be placed passes', async () => {
    const { placings, dialled } = await place({ policy: {}, notAfter: null, answeredAt: evening - 1500 + toleranceMs + 1 });
    expect(dialled).toBe(0);
    expect(placings).toMatchObject([{ result: { unasked: 'its turn came too late' } }]);
  });

  test('nothing of this happens it is', async () => {
    const { placings, dialled } = await place({ policy: evenings, notAfter: evening, answeredAt: evening - 1 });
    expect(dialled).toBe(1);
    expect(placings).toMatchObject([{ result: { placed: expect.anything() } }]);
  });
});

describe('a message', () => {
  /** Sends a message at `startedAt`; storing it takes until `storedAt`. */
  async function send(
    organizationId: number,
    to: string,
    times: { startedAt: number; storedAt: number },
    more: Partial<MessageToSend> = {},
  ) {
    const clock = { now: times.startedAt };
    const context = await contextAt(organizationId, clock, (sql) => {
      if (sql.includes('INSERT INTO message ')) clock.now = times.storedAt;
    });
    return sendMessage(context, {
      sendKey: `step:${crypto.randomUUID()}`,
      to,
      content: { kind: 'template', templateName: 'order_update', language: 'en', params: { 1: 'Ada', 2: '1001' } },
      contactId: null,
      automationRunId: null,
      ...more,
    });
  }

  test('is not sent when quiet hours begin while it is stored, gives its reservation back, and is sent at none of their moments', async () => {
    const { id, client } = await messagingOrganization();
    await client.put(path, evenings);
    const phone = await newPerson(client);
    expect(await send(id, phone, { startedAt: evening - 1000, storedAt: evening })).toMatchObject({
      failure: { failure: 'contact_policy_hold', retryable: true, until: evening + 1000 },
    });
    expect(await takenFor('provider_b', phone)).toEqual([]);
    expect(await decisionsOf(id)).toMatchObject([{ state: 'released' }]);
    expect(await logOf(client)).toMatchObject([{ status: 'failed', failure_class: 'contact_policy_hold' }]);
    const next = { startedAt: evening + 1000, storedAt: evening + 1000 };
    expect(await send(id, phone, next)).toMatchObject({ failure: { failure: 'contact_policy_hold', until: evening + 60 * minute } });
    expect(await takenFor('provider_b', phone)).toEqual([]);
  });

  test('is not sent when it is stored later than a reservation holds, and the next try may send it', async () => {
    const { id, client } = await messagingOrganization();
    await client.put(path, { limits: [{ channel: 'message', max: 1, per: 'P1D' }] });
    const phone = newPhone();
    const startedAt = Date.now();
    const late = await send(id, phone, { startedAt, storedAt: startedAt + toleranceMs });
    expect(late).toMatchObject({ failure: { failure: 'contact_policy_hold', until: startedAt + toleranceMs + 1000 } });
    expect(await takenFor('provider_b', phone)).toEqual([]);
    const next = { startedAt: startedAt + 3000, storedAt: startedAt + 3000 };
    expect(await send(id, phone, next)).toMatchObject({ messageId: expect.any(String) });
    expect((await decisionsOf(id)).map(({ state }) => state)).toEqual(['released', 'reserved']);
  });

  test('that is asked for again under its key answers the same, and is not sent', async () => {
    const { id, client } = await messagingOrganization();
    await client.put(path, evenings);
    const phone = await newPerson(client);
    const sendKey = `step:${crypto.randomUUID()}`;
    const late = await send(id, phone, { startedAt: evening - 1000, storedAt: evening }, { sendKey });
    const again = await send(id, phone, { startedAt: evening + 120 * minute, storedAt: evening + 120 * minute }, { sendKey });
    expect(again).toMatchObject({ id: late.id, failure: { failure: 'contact_policy_hold', retryable: true } });
    expect(await takenFor('provider_b', phone)).toEqual([]);
  });

  test('is not sent when the quiet hours of its journey begin while it is stored', async () => {
    const { id, client } = await messagingOrganization();
    const phone = newPhone();
    expect(await send(id, phone, { startedAt: evening - 1000, storedAt: evening }, { notAfter: evening })).toMatchObject({
      failure: { failure: 'quiet_hours', retryable: true },
    });
    expect(await takenFor('provider_b', phone)).toEqual([]);
    expect(await logOf(client)).toMatchObject([{ status: 'failed', failure_class: 'quiet_hours' }]);
  });

  test('that is stored in time is sent', async () => {
    const { id, client } = await messagingOrganization();
    await client.put(path, evenings);
    const phone = await newPerson(client);
    const sent = await send(id, phone, { startedAt: evening - 1000, storedAt: evening - 1 }, { notAfter: evening });
    expect(sent).toMatchObject({ messageId: expect.any(String) });
    expect(await takenFor('provider_b', phone)).toHaveLength(1);
    expect(await decisionsOf(id)).toMatchObject([{ state: 'reserved' }]);
  });
});

describe('the reservation of a message without a row in the log', () => {
  const policy = ContactPolicyBody.parse({ limits: [{ channel: 'message', max: 1, per: 'P30D' }] });

  /** Reserves messages to one person at moments after the first (ms), none of which is stored. Answers whether each was allowed. */
  async function reserveAt(retentionDays: number, moments: number[]): Promise<string[]> {
    const { id } = await newOrganization();
    const context = (await backgroundContext(env, id, () => {}))!;
    const phone = newPhone();
    const kinds: string[] = [];
    for (const [index, moment] of moments.entries()) {
      const key = `message:${index}`;
      const at: Context = {
        ...context,
        settings: { ...context.settings, RETENTION_DAYS: retentionDays },
        clock: () => Date.UTC(2026, 0, 5) + moment,
      };
      const verdicts = await reserveContacts(at, policy, [{ key, phone, channel: 'message', source: 'single', sourceId: 0 }]);
      kinds.push(verdicts.get(key)!.kind);
    }
    return kinds;
  }

  test('counts as long as its window when the row may be in the archive', async () => {
    expect(await reserveAt(2, [0, 3 * day])).toEqual(['allowed', 'held']);
    expect(await reserveAt(1, [0, day])).toEqual(['allowed', 'held']);
  });

  test('counts no more when its sender died, however short the log is kept', async () => {
    expect(await reserveAt(1, [0, 6 * minute])).toEqual(['allowed', 'allowed']);
    expect(await reserveAt(90, [0, 6 * day])).toEqual(['allowed', 'allowed']);
  });
});
