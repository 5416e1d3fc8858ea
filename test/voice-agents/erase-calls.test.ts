import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { storePayload } from '../../src/database/payload.ts';
import { artifactKey, type ArtifactName } from '../../src/calls/records/artifacts.ts';
import { eraseCalls } from '../../src/calls/records/erase-calls.ts';
import { findAgentRun, updateRecordingType } from '../../src/calls/records/store.ts';
import { dropQueueMessages, tickAt } from '../support/background.ts';
import { newPhone } from '../support/organization.ts';
import { newRun, settle, settlement, withAgent } from './runs.ts';

afterEach(() => vi.restoreAllMocks());

const artifacts: ArtifactName[] = ['transcript.txt', 'transcript.json', 'logs.json', 'recording'];
const result = {
  gathered_context: {
    call_status: 'completed',
    call_disposition: 'interested',
    call_tags: ['of Ada'],
    nodes_visited: ['start', 'bye'],
    extracted_variables: { address: '1 Main St' },
    address: '1 Main St',
  },
  cost_info: { llm_tokens: { prompt: 10, completion: 5 }, call_duration_seconds: 42, total_cost_usd: 0.01 },
  annotations: { summary: 'Ada wants it', sentiment: 'positive', checks: [{ name: 'said Ada' }] },
};

async function setUp() {
  const organization = await withAgent();
  const { client, context, agent, id } = organization;
  const phone = newPhone();
  const contact: number = (await client.post('/contacts', { phone, first_name: 'Ada', last_name: 'Lovelace' })).body.id;
  const live = (initialContext = '{"first_name":"Ada"}') =>
    newRun(context, agent, { contactId: contact, name: `Sales to ${phone}`, phone, initialContext });
  const talked = async (initialContext?: string) => {
    const run = await live(initialContext);
    await settle(context, settlement(run.id, { result, reason: `${phone} hung up` }));
    for (const name of artifacts) await env.FILES.put(artifactKey(id, run.id, name), 'Ada: my address is 1 Main St');
    await context.database.batch([updateRecordingType(context, run.id, 'audio/mpeg')]);
    return run;
  };
  const remove = async () => expect((await client.delete(`/contacts/${contact}`)).status).toBe(200);
  const cleanups = async () =>
    (await env.DB.prepare("SELECT id FROM cleanup WHERE organization_id = ? AND kind = 'contact_deleted'").bind(id).all()).results.length;
  return { ...organization, phone, contact, live, talked, remove, cleanups };
}

test('of a deleted contact no phone, name or talk is left', async () => {
  const { client, id, agent, phone, talked, remove, cleanups } = await setUp();
  const large = await storePayload(env.FILES, () => `${id}/calls/large`, JSON.stringify({ first_name: 'Ada'.repeat(30_000) }));
  const run = await talked(large);
  const path = `/workflow/${agent.id}/runs/${run.id}`;
  const links = await Promise.all(
    ['transcript', 'recording'].map(async (name) => (await client.get(`${path}/download?artifact=${name}`)).body.url as string),
  );
  const follow = (link: string) => client.get(link.slice(link.indexOf('/artifacts/')));
  for (const link of links) expect((await follow(link)).status).toBe(200);
  await remove();
  await vi.waitFor(async () => expect(await cleanups()).toBe(0), { timeout: 10_000 });
  const { body } = await client.get(path);
  expect(JSON.stringify(body)).not.toMatch(new RegExp(`Ada|${phone.slice(1)}|Main St`));
  expect(body).toMatchObject({
    name: 'Deleted contact',
    phone: null,
    contact_id: null,
    initial_context: {},
    outcome: 'completed',
    reason: 'the number hung up',
    transcript_url: null,
    recording_url: null,
    gathered_context: { call_disposition: 'interested', call_tags: [], nodes_visited: ['start', 'bye'], extracted_variables: {} },
    cost_info: result.cost_info,
    annotations: { summary: null, sentiment: 'positive', checks: [] },
  });
  expect(body.gathered_context).not.toHaveProperty('address');
  for (const artifact of ['transcript', 'recording']) expect((await client.get(`${path}/${artifact}`)).status).toBe(404);
  for (const link of links) expect((await follow(link)).status).toBe(404);
  expect((await env.FILES.list({ prefix: `calls/${id}/` })).objects).toEqual([]);
  expect((await env.FILES.list({ prefix: `payloads/${id}/calls/` })).objects).toEqual([]);
});

test('many calls of a deleted contact are erased page by page, those of others and of contacts that stay are not', async () => {
  const { context, agent, contact, live, client } = await setUp();
  for (let count = 0; count < 51; count++) await settle(context, settlement((await live()).id, { result }));
  const other: number = (await client.post('/contacts', { phone: newPhone() })).body.id;
  const kept = await newRun(context, agent, { contactId: other });
  await settle(context, settlement(kept.id));
  const named = async () =>
    (await env.DB.prepare('SELECT count(*) AS n FROM voice_agent_run WHERE contact_id = ?').bind(contact).first<{ n: number }>())!.n;
  expect([await eraseCalls(context, contact), await named()]).toEqual(['done', 51]);
  await env.DB.prepare('UPDATE contact SET deleted_at = 1, phone = NULL WHERE id = ?').bind(contact).run();
  expect([await eraseCalls(context, contact), await named()]).toEqual(['more', 1]);
  expect([await eraseCalls(context, contact), await named()]).toEqual(['done', 0]);
  expect(await findAgentRun(context, kept.id)).toMatchObject({ contact_id: other, phone: '+12125550100', has_transcript: true });
});

test('a call that lasts is erased once it is over, and the queue does not turn meanwhile', async () => {
  const { context, live, talked, remove, cleanups } = await setUp();
  const over = await talked();
  const run = await live();
  const sent = vi.spyOn(env.FANOUT_QUEUE, 'send');
  await remove();
  await vi.waitFor(async () => expect((await findAgentRun(context, over.id))!.name).toBe('Deleted contact'), { timeout: 10_000 });
  expect(await findAgentRun(context, run.id)).toMatchObject({ is_completed: false, phone: run.phone });
  await settle(context, settlement(run.id, { result }));
  expect(await cleanups()).toBe(1);
  expect(sent).toHaveBeenCalledTimes(1);
  await tickAt(Date.now() + 120_000);
  await vi.waitFor(async () => expect(await cleanups()).toBe(0), { timeout: 10_000 });
  expect(await findAgentRun(context, run.id)).toMatchObject({ name: 'Deleted contact', phone: null, contact_id: null });
});

test('an erasure that broke off after the files were gone is made again', async () => {
  const { context, contact, talked, remove, id } = await setUp();
  const run = await talked();
  const lost = dropQueueMessages();
  await remove();
  lost.restore();
  for (const name of artifacts) await env.FILES.delete(artifactKey(id, run.id, name));
  expect(await eraseCalls(context, contact)).toBe('done');
  expect(await findAgentRun(context, run.id)).toMatchObject({ name: 'Deleted contact', has_transcript: false, recording_type: null });
  expect(await eraseCalls(context, contact)).toBe('done');
});
