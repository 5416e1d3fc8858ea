import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { artifactKey } from '../../src/calls/records/artifacts.ts';
import { indexCalls } from '../../src/cron/index-calls.ts';
import { Database } from '../../src/database/client.ts';
import { newAgent } from '../campaigns/campaign-service.ts';
import { newOrganization } from '../support/organization.ts';
import { insertCall } from './listed-calls.ts';

const database = new Database(env.DB, true);

const indexUpTo = (id: number) =>
  env.DB.prepare("INSERT OR REPLACE INTO progress (name, value) VALUES ('calls_without_words', ?)").bind(id).run();

const transcript = (text: string) =>
  JSON.stringify({ utterances: [{ speaker: 'person', text, at: '2026-11-23T09:00:00.000Z', node_id: 'start', is_cut: false }] });

test('calls that are older than the search in transcripts are found once the tick has looked at them', async () => {
  const { client, id } = await newOrganization();
  const agentId = await newAgent(id);
  const withTranscript = async (name: 'talk.json' | 'transcript.json' | null, text: string) => {
    const call = await insertCall(id, { agentId });
    await env.DB.prepare('UPDATE voice_agent_run SET has_transcript = 1 WHERE id = ?').bind(call).run();
    if (name) await env.FILES.put(artifactKey(id, call, name), transcript(text));
    return call;
  };
  const early = await withTranscript('transcript.json', 'Where is my parcel?');
  await withTranscript(null, 'the file is gone');
  const late = await withTranscript('talk.json', 'My parcel is here');
  const newest = await withTranscript('talk.json', 'Another parcel, whose words are there already');
  const found = async () => (await client.get('/calls?text=parcels')).body.calls.map((call: { id: number }) => call.id);
  expect(await found()).toEqual([]);
  await indexUpTo(late);
  // The walk goes on to calls of other tests, of which there may be any number.
  for (let ticks = 0; (await found()).length < 2; ticks++) {
    expect(ticks).toBeLessThan(5);
    await indexCalls(env, database);
  }
  expect(await found()).toEqual([late, early]);
  // A tick that is repeated changes nothing.
  await indexUpTo(newest);
  await indexCalls(env, database);
  expect(await found()).toEqual([newest, late, early]);
  await env.DB.prepare("DELETE FROM progress WHERE name = 'calls_without_words'").run();
});
