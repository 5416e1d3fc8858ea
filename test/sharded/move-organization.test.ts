import { env, exports } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { raiseFence, lowerFence } from '../../src/cron/move-organization/fence.ts';
import { takeHold } from '../../src/cron/move-organization/hold.ts';
import { movedTables } from '../../src/cron/move-organization/moved-tables.ts';
import { processDeletion } from '../../src/cron/delete-organization/process-deletion.ts';
import { runInvocation } from '../../src/database/query-budget.ts';
import { shards } from '../../src/database/shards.ts';
import type { EventsMessage } from '../../src/outbox/messages.ts';
import { artifactKey } from '../../src/calls/records/artifacts.ts';
import { toCallMatch } from '../../src/calls/listing/call-words.ts';
import { insertRow } from '../support/insert-row.ts';
import { deliver, tickAt } from '../support/background.ts';
import { fillOrganization } from '../support/fill-organization.ts';
import { chain, createActiveWorkflow, waitForRunState } from '../support/journeys.ts';
import { askForMove, comparable, first, holdMoves, moveOf, moveUntil, rowsOf, second, stepMove, tracesOf } from '../support/moves.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const shardOf = async (id: number) =>
  (await env.DB.prepare('SELECT shard FROM organization WHERE id = ?').bind(id).first<{ shard: number }>())!.shard;

const endsOf = async (id: number) => {
  const [source, target] = shards(env);
  const ends = { organizationId: id, source: source!, target: target!, files: env.FILES, claim: 1_000_000 };
  await takeHold(ends);
  return ends;
};

/** Without what is handed over at the end of a move. */
const withoutFailures = ({ failed_message: _failed, organization_usage: _usage, ...rows }: Record<string, unknown>) => rows;

describe('an organization that moves', () => {
  test('has every row in the new shard, and none in the old one', async () => {
    holdMoves();
    const [moving, neighbour] = [await newOrganization({ shard: 0 }), await newOrganization({ shard: 0 })];
    for (const { id, userId } of [moving, neighbour]) await fillOrganization(id, userId, first);
    const [before, beforeNeighbour] = [await rowsOf(first, moving.id), await rowsOf(first, neighbour.id)];
    expect(Object.keys(before).toSorted()).toEqual(
      movedTables
        .map(({ name }) => name)
        .filter((name) => name !== 'organization_usage')
        .toSorted(),
    );
    await askForMove(moving.id);
    await moveUntil(moving.id, 'left');
    expect(await shardOf(moving.id)).toBe(1);
    expect(withoutFailures(comparable(await rowsOf(second, moving.id)))).toEqual(withoutFailures(comparable(before)));
    await moveUntil(moving.id, 'moved');
    expect(await rowsOf(first, moving.id)).toEqual({});
    expect([await tracesOf(first, moving.id), await tracesOf(second, moving.id)]).toEqual([[], []]);
    expect(await rowsOf(first, neighbour.id)).toEqual(beforeNeighbour);
    expect(await rowsOf(second, neighbour.id)).toEqual({});
  });

  test('finds its calls by their words in the new shard, and the old one has none of them', async () => {
    holdMoves();
    const { id } = await newOrganization({ shard: 0 });
    const said = 'Please send the brochure';
    const run = (summary: string | null) =>
      insertRow(
        'voice_agent_run',
        {
          organization_id: id,
          mode: 'twilio',
          call_type: 'outbound',
          is_completed: 1,
          has_transcript: 1,
          initial_context: '{}',
          result: JSON.stringify({ gathered_context: {}, cost_info: {}, annotations: { summary } }),
        },
        first,
      );
    const [told, lost] = [await run('She wants an offer'), await run(null)];
    const utterances = [{ speaker: 'person', text: said, at: '2026-11-23T09:00:00.000Z', node_id: 'start', is_cut: false }];
    await env.FILES.put(artifactKey(id, told, 'talk.json'), JSON.stringify({ utterances, logs: { events: [], status_callbacks: [] } }));
    const insert = 'INSERT INTO call_search (rowid, scope, text) VALUES (?, ?, ?)';
    await first.batch([told, lost].map((call) => first.prepare(insert).bind(call, `organization${id}`, 'please send the brochure')));
    const find = async (database: D1Database, text: string) =>
      (
        await database
          .prepare('SELECT rowid AS id FROM call_search WHERE call_search MATCH ?')
          .bind(toCallMatch(id, text)!)
          .all<{ id: number }>()
      ).results;
    await askForMove(id);
    await moveUntil(id, 'left');
    // A call whose transcript is gone is not found any more.
    expect([await find(second, 'brochure'), await find(second, 'offers')]).toEqual([[{ id: told }], [{ id: told }]]);
    await moveUntil(id, 'moved');
    expect([await find(first, 'brochure'), await find(second, 'brochure')]).toEqual([[], [{ id: told }]]);
  });

  test('leaves ids that its old shard gives to nobody else', async () => {
    holdMoves();
    const { id, userId } = await newOrganization({ shard: 0 });
    await fillOrganization(id, userId, first);
    const rows = await rowsOf(first, id);
    await askForMove(id);
    await moveUntil(id, 'moved');
    const numbered = movedTables.filter(
      ({ name, key }) => key[0] === 'id' && !['contact_change', 'cleanup', 'connection_request'].includes(name),
    );
    for (const { name } of numbered) {
      const given = await first
        .prepare(`SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?1), max(id)) AS id FROM ${name}`)
        .bind(name)
        .first<{ id: number }>();
      expect(given!.id, name).toBeGreaterThanOrEqual(Math.max(...(rows[name] ?? []).map((row) => row['id'] as number)));
    }
  });

  test('works all the while, and nothing is lost or done twice', async () => {
    holdMoves();
    const { id, client } = await newOrganization({ shard: 0 });
    const onEvent = await createActiveWorkflow(client, {
      definition: chain({ id: 'tag', type: 'update_contact', data: { add_tags: ['came'] } }),
      trigger: { type: 'contact_event', config: { event_types: ['came'] } },
    });
    const onChange = await createActiveWorkflow(client, { trigger: { type: 'event', config: { event: 'contact.created' } } });
    const onHook = await createActiveWorkflow(client, {});
    const hook = await client.post(`/automation-workflows/${onHook}/triggers`, {
      type: 'webhook',
      config: { delivery_id: 'X-Delivery-Id' },
    });
    const patient = await createActiveWorkflow(client, {
      definition: {
        nodes: [
          { id: 'in', type: 'trigger', data: {} },
          { id: 'hear', type: 'wait_for_event', data: { event_types: ['paid'], timeout: 'PT1H' } },
          { id: 'out', type: 'exit', data: { outcome: 'paid' } },
        ],
        edges: [
          { id: 'a', source: 'in', target: 'hear' },
          { id: 'b', source: 'hear', source_handle: 'received', target: 'out' },
          { id: 'c', source: 'hear', source_handle: 'timeout', target: 'out' },
        ],
      },
    });
    const sleeper = await createActiveWorkflow(client, { definition: chain({ id: 'nap', type: 'wait', data: { duration: 'PT8S' } }) });
    const phone = newPhone();
    const { body: payer } = await client.post('/contacts', { phone, first_name: 'Ada' });
    const waiting = await client.post(`/automation-workflows/${patient}/execute`, { contact_id: payer.id, context: {} });
    expect(waiting.status, JSON.stringify(waiting.body)).toBeLessThan(300);
    const asleep = await client.post(`/automation-workflows/${sleeper}/execute`, { contact_id: payer.id, context: {} });
    await waitForRunState(client, waiting.body.id, 'waiting');

    // Senders that try again when they are asked to, as the documentation says.
    const sent = { events: 0, deliveries: 0, contacts: new Set<string>(), refused: 0 };
    const insist = async (send: () => Promise<{ status: number; headers: Headers }>) => {
      while (!isOver) {
        const { status, headers } = await send();
        if (status < 300) return true;
        expect([status, headers.get('Retry-After')]).toEqual([503, '1']);
        sent.refused++;
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
      return false;
    };
    let isOver = false;
    const traffic = (async () => {
      while (!isOver) {
        const [sender, delivery, contact] = [`s${sent.events}`, `d${sent.deliveries}`, newPhone()];
        if (await insist(() => client.post('/events', { event_type: 'came', sender_id: sender, phone: newPhone(), data: {} })))
          sent.events++;
        const headers = { 'X-Delivery-Id': delivery, 'Content-Type': 'application/json' };
        if (await insist(() => exports.default.fetch(new Request(hook.body.webhook_url, { method: 'POST', body: '{}', headers }))))
          sent.deliveries++;
        if (await insist(() => client.post('/contacts', { phone: contact, first_name: 'Grace' }))) sent.contacts.add(contact);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    try {
      await askForMove(id);
      await vi.waitFor(() => expect(sent.events).toBeGreaterThan(1), { timeout: 20_000 });
      await moveUntil(id, 'left');
      const soFar = sent.events;
      await vi.waitFor(() => expect(sent.events).toBeGreaterThan(soFar + 2), { timeout: 20_000 });
    } finally {
      isOver = true;
    }
    await traffic;
    expect(await shardOf(id)).toBe(1);

    await client.post('/events', { event_type: 'paid', phone, data: {} });
    await waitForRunState(client, waiting.body.id, 'completed');
    await waitForRunState(client, asleep.body.id, 'completed');
    // What waits behind the cursors of the new shard is found by its minute tick.
    await tickAt(Date.now() + 60_000);
    const runsOf = async (workflow: number) =>
      (
        await second
          .prepare('SELECT state, dedup_key FROM automation_run WHERE workflow_id = ?')
          .bind(workflow)
          .all<{ state: string; dedup_key: string }>()
      ).results;
    const expectRuns = (workflow: number, count: number) =>
      vi.waitFor(
        async () => {
          const runs = await runsOf(workflow);
          expect(runs.filter(({ state }) => state !== 'completed')).toEqual([]);
          expect(runs.length, JSON.stringify({ workflow, sent: { ...sent, contacts: sent.contacts.size }, runs })).toBe(count);
        },
        { timeout: 30_000, interval: 100 },
      );
    await expectRuns(onEvent, sent.events);
    await expectRuns(onHook, sent.deliveries);
    const { results: contacts } = await second
      .prepare('SELECT phone FROM contact WHERE organization_id = ?')
      .bind(id)
      .all<{ phone: string }>();
    expect(new Set(contacts.map((row) => row.phone)).size).toBe(contacts.length);
    expect([...sent.contacts].filter((one) => !contacts.some((row) => row.phone === one))).toEqual([]);
    // Each contact was created once, by whoever: itself, an event, or before the move began.
    await expectRuns(onChange, contacts.length);
    const counters = await second
      .prepare('SELECT runs_count, active_runs_count FROM automation_workflow WHERE id = ?')
      .bind(onEvent)
      .first<{ runs_count: number; active_runs_count: number }>();
    expect(counters).toEqual({ runs_count: sent.events, active_runs_count: 0 });
    const found = (await client.get('/contacts?search=Grace&limit=500')).body.contacts as { phone: string }[];
    expect(found.map((contact) => contact.phone).toSorted()).toEqual([...sent.contacts].toSorted());

    await moveUntil(id, 'moved');
    expect(await rowsOf(first, id)).toEqual({});
    expect([await tracesOf(first, id), await tracesOf(second, id)]).toEqual([[], []]);
    for (let minutes = 2; minutes < 5; minutes++) await tickAt(Date.now() + minutes * 60_000);
    await expectRuns(onEvent, sent.events);
    const usage = await second
      .prepare('SELECT events_count FROM organization_usage WHERE organization_id = ?')
      .bind(id)
      .first<{ events_count: number }>();
    const events = await second.prepare('SELECT count(*) AS rows FROM event WHERE organization_id = ?').bind(id).first<{ rows: number }>();
    expect(usage!.events_count, 'counted events').toBe(events!.rows);
  }, 240_000);
});

describe('the fence', () => {
  const standing = async () => {
    holdMoves();
    const [moving, neighbour] = [await newOrganization({ shard: 0 }), await newOrganization({ shard: 0 })];
    const came = { definition: chain(), trigger: { type: 'contact_event', config: { event_types: ['came'] } } };
    const workflow = await createActiveWorkflow(moving.client, came);
    await askForMove(moving.id);
    await stepMove(moving.id);
    return { ...moving, workflow, neighbour, ends: await endsOf(moving.id) };
  };
  const event = (client: Client) => client.post('/events', { event_type: 'came', phone: newPhone(), data: {} });

  test('answers writes of its organization with 503 and Retry-After, and those of others as always', async () => {
    const { id, client, neighbour, ends } = await standing();
    const { body: contact } = await client.post('/contacts', { phone: newPhone(), first_name: 'Ada' });
    await raiseFence(ends, Date.now());
    const refused = [
      await event(client),
      await client.post('/contacts', { phone: newPhone() }),
      await client.put(`/contacts/${contact.id}`, { first_name: 'Eve' }),
      await client.delete(`/contacts/${contact.id}`),
      await client.post('/contacts/lists', { name: 'People' }),
    ];
    expect(refused.map(({ status, headers }) => [status, headers.get('Retry-After')])).toEqual(refused.map(() => [503, '1']));
    expect(refused.map(({ body }) => JSON.stringify(body)).join()).not.toContain('organization_moved');
    expect((await client.get(`/contacts/${contact.id}`)).body.first_name).toBe('Ada');
    expect([(await event(neighbour.client)).status, (await neighbour.client.post('/contacts', { phone: newPhone() })).status]).toEqual([
      201, 201,
    ]);
    await lowerFence(ends);
    expect((await client.put(`/contacts/${contact.id}`, { first_name: 'Eve' })).status).toBe(200);
    expect((await rowsOf(second, id))['trigger_topic']).toBeUndefined();
  });

  test('has a queue try again later, and the minute tick goes on for others', async () => {
    const { id, client, workflow, neighbour, ends } = await standing();
    const send = vi.spyOn(env.EVENTS_QUEUE, 'send').mockResolvedValue(undefined as never);
    const accepted = [await event(client), await event(neighbour.client)];
    send.mockRestore();
    await raiseFence(ends, Date.now());
    const message: EventsMessage = { v: 1, kind: 'event', organization_id: id, id: accepted[0]!.body.event_id };
    const result = await deliver('events', [message]);
    expect(result.retryMessages).toHaveLength(1);
    expect(result.explicitAcks).toEqual([]);
    await tickAt(Date.now() + 60_000);
    const handled = async (place: number) =>
      (await first
        .prepare('SELECT handled_at FROM event WHERE id = ?')
        .bind(accepted[place]!.body.event_id)
        .first<{ handled_at: number | null }>())!.handled_at;
    await vi.waitFor(async () => expect(await handled(1)).not.toBeNull(), { timeout: 15_000, interval: 50 });
    expect(await handled(0)).toBeNull();
    await lowerFence(ends);
    expect((await deliver('events', [message])).explicitAcks).toHaveLength(1);
    await vi.waitFor(
      async () =>
        expect((await client.get(`/automation-workflows/${workflow}/runs`)).body).toMatchObject({
          total: 1,
          runs: [{ state: 'completed' }],
        }),
      { timeout: 15_000, interval: 50 },
    );
  });

  test('has a run wait with its next step, and fails none', async () => {
    const { client, ends } = await standing();
    const workflow = await createActiveWorkflow(client, {
      definition: chain(
        { id: 'nap', type: 'wait', data: { duration: 'PT1S' } },
        { id: 'tag', type: 'update_contact', data: { add_tags: ['x'] } },
      ),
    });
    const { body: contact } = await client.post('/contacts', { phone: newPhone() });
    const run = await client.post(`/automation-workflows/${workflow}/execute`, { contact_id: contact.id, context: {} });
    expect(run.status, JSON.stringify(run.body)).toBeLessThan(300);
    await raiseFence(ends, Date.now());
    await new Promise((resolve) => setTimeout(resolve, 2000));
    const state = await first.prepare('SELECT state FROM automation_run WHERE id = ?').bind(run.body.id).first<{ state: string }>();
    expect(state!.state).not.toMatch(/failed|cancelled|completed/);
    await lowerFence(ends);
    await waitForRunState(client, run.body.id, 'completed');
    expect((await client.get(`/contacts/${contact.id}`)).body.tags).toEqual(['x']);
  });
});

describe('a move', () => {
  test.each([
    ['to the same shard', 0, 0],
    ['to a lower shard', 0, 1],
    ['to a shard that is not bound', 7, 0],
  ])('%s is refused', async (_, to, from) => {
    holdMoves();
    const { id, client } = await newOrganization({ shard: from });
    await askForMove(id, to, from);
    const { phase, note, due_at: due } = await stepMove(id);
    expect([phase, due]).toEqual(['refused', null]);
    expect(note).toMatch(to > 1 ? /no shard 7/ : /higher number/);
    expect((await client.post('/contacts', { phone: newPhone() })).status).toBe(201);
  });

  test('of an organization that is being deleted is refused, and a deletion calls a move off', async () => {
    holdMoves();
    const remove = (client: Client) => client.delete('/organizations/current?confirm_name=Test%20organization');
    const gone = await newOrganization({ shard: 0 });
    await remove(gone.client);
    await askForMove(gone.id);
    expect(await stepMove(gone.id)).toMatchObject({ phase: 'refused', note: 'The organization is being deleted' });

    const { id, userId, client } = await newOrganization({ shard: 0 });
    await fillOrganization(id, userId, first);
    await askForMove(id);
    await stepMove(id);
    expect(await moveOf(id)).toMatchObject({ phase: 'copying' });
    await remove(client);
    const rows = Object.keys(await rowsOf(first, id)).length;
    await runInvocation(() => processDeletion(env, id, () => undefined));
    expect(Object.keys(await rowsOf(first, id))).toHaveLength(rows);
    await moveUntil(id, 'cancelled');
    expect([await rowsOf(second, id), await tracesOf(first, id), await tracesOf(second, id)]).toEqual([{}, [], []]);
    expect(await shardOf(id)).toBe(0);
  });

  test.each(['copying', 'fenced'])('can be called off while it is %s', async (phase) => {
    holdMoves();
    const { id, userId, client } = await newOrganization({ shard: 0 });
    await fillOrganization(id, userId, first);
    const before = await rowsOf(first, id);
    await askForMove(id);
    await moveUntil(id, phase);
    if (phase === 'fenced') await raiseFence(await endsOf(id), Date.now());
    await env.DB.prepare(
      "UPDATE organization_move SET phase = 'cancelling', step = 0, cursor = NULL, due_at = 0, claim = claim + 1000001 WHERE subject_id = ?",
    )
      .bind(id)
      .run();
    await moveUntil(id, 'cancelled');
    expect(withoutFailures(await rowsOf(first, id))).toEqual(withoutFailures(before));
    expect([await rowsOf(second, id), await tracesOf(first, id), await tracesOf(second, id)]).toEqual([{}, [], []]);
    expect((await client.post('/contacts', { phone: newPhone() })).status).toBe(201);
    // And it can move another time.
    await askForMove(id);
    await moveUntil(id, 'moved');
    expect(await shardOf(id)).toBe(1);
  });

  test('that finds other rows in the new shard is put off, and its organization works on', async () => {
    holdMoves();
    const { id, userId, client } = await newOrganization({ shard: 0 });
    await fillOrganization(id, userId, first);
    await askForMove(id);
    await moveUntil(id, 'fenced');
    await second.prepare("UPDATE contact SET first_name = 'Somebody else' WHERE organization_id = ?").bind(id).run();
    expect(await stepMove(id)).toMatchObject({ phase: 'copying', tries: 1, note: 'The rows of contact were not the same in both shards' });
    expect(await shardOf(id)).toBe(0);
    expect((await client.post('/contacts', { phone: newPhone() })).status).toBe(201);
    await first.prepare('UPDATE contact SET updated_at = updated_at + 1 WHERE organization_id = ?').bind(id).run();
    await moveUntil(id, 'moved');
    expect((await client.post('/contacts', { phone: newPhone() })).status).toBe(201);
    expect(await rowsOf(first, id)).toEqual({});
  });

  test('whose message is lost is sent for again by the tick', async () => {
    const { id } = await newOrganization({ shard: 0 });
    const send = vi.spyOn(env.FANOUT_QUEUE, 'send').mockResolvedValue(undefined as never);
    await askForMove(id);
    await tickAt(Date.now());
    expect(send.mock.calls.map(([message]) => message)).toContainEqual({ v: 1, kind: 'organization_move', organization_id: id });
  });
});
