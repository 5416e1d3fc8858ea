import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { getVectorIndex } from '../../src/providers/vector-index/get-vector-index.ts';
import { vectorBackend, waitForVectors, withIndexCalls } from '../support/vector-backend.ts';
import { tickAt } from '../support/background.ts';
import { readFailedMessages, exhaustFailedMessages } from '../support/failed-messages.ts';
import { simulatorsUrl } from '../support/carrier.ts';
import { dyingAt, interruptedAt } from './interrupted-bindings.ts';
import { chunkRows, handbook, indexedByWords, knowledgeService, longText, type KnowledgeService } from './knowledge-service.ts';
import { eventSamples } from '../../src/automation-workflows/triggers/descriptions.ts';

const indexOf = (service: KnowledgeService) => getVectorIndex(service.bindings, vectorBackend, service.id);

/** Ids of all vectors of the organization, of up to a hundred. */
async function vectorIds(service: KnowledgeService): Promise<number[]> {
  await waitForVectors();
  const found = await indexOf(service).query(new Float32Array(1536).fill(1), { topK: 100 });
  return found.map(({ id }) => id).toSorted((one, other) => one - other);
}

/** What is left of documents in every store: chunks, words and vectors are the same, each with a vector, and no pages wait. */
async function expectTidy(service: KnowledgeService, chunks: number): Promise<void> {
  const rows = await chunkRows(service.id);
  const ids = rows.map(({ id }) => id);
  expect(ids).toHaveLength(chunks);
  expect(rows.every(({ embedding_model }) => embedding_model !== null)).toBe(true);
  expect(await indexedByWords(service.id)).toEqual(ids);
  if (chunks <= 100) expect(await vectorIds(service)).toEqual(ids);
  else expect(await indexOf(service).areVisible(ids)).toBe(true);
  expect((await env.FILES.list({ prefix: `knowledge_base_pages/${service.id}/` })).objects).toEqual([]);
  await expectFilesOfActive(service);
  expect(await hasDue(service)).toBe(false);
}

/** The stored uploads are those of the active documents, and so are the stored files. */
async function expectFilesOfActive({ id }: KnowledgeService): Promise<void> {
  const active = 'SELECT uuid, storage_key FROM knowledge_document WHERE organization_id = ? AND is_active';
  const { results } = await env.DB.prepare(active).bind(id).all<{ uuid: string; storage_key: string }>();
  const stored = async (folder: string) => (await env.FILES.list({ prefix: `${folder}/${id}/` })).objects.map(({ key }) => key);
  expect(await stored('knowledge_base_uploads')).toEqual(results.map(({ uuid }) => `knowledge_base_uploads/${id}/${uuid}.json`).toSorted());
  const keys = new Set(results.map((row) => row.storage_key));
  expect((await stored('knowledge_base')).filter((key) => !keys.has(key))).toEqual([]);
}

/** Whether something is still to be done for one of the organization's documents. */
async function hasDue({ id }: KnowledgeService): Promise<boolean> {
  const due = 'SELECT 1 FROM knowledge_document WHERE organization_id = ? AND due_at IS NOT NULL LIMIT 1';
  return (await env.DB.prepare(due).bind(id).first()) !== null;
}

const twentyMinutesMs = 20 * 60_000;
const dayMs = 86_400_000;

/** What an index answers that shows nothing yet. */
const nothing = vectorBackend === 'embedded' ? false : [];

const fault = (more: Record<string, unknown>) =>
  fetch(`${simulatorsUrl}/__sim/faults`, {
    method: 'POST',
    body: JSON.stringify({ provider: 'openai', match: { path: '/v1/embeddings' }, ...more }),
  });
const noFaults = () => fetch(`${simulatorsUrl}/__sim/reset?provider=openai`, { method: 'POST' });
const textsAsked = async (): Promise<number> => {
  const { requests } = (await (await fetch(`${simulatorsUrl}/__sim/requests?provider=openai&path=/v1/embeddings`)).json()) as {
    requests: any[];
  };
  return requests.reduce((sum, { body }) => sum + (typeof body === 'string' ? JSON.parse(body) : body).input.length, 0);
};

describe('a document', () => {
  test('of several pages is worked off a page a message, and each chunk is embedded once', { tags: 'soak' }, async () => {
    const service = await knowledgeService();
    await noFaults();
    const uuid = await service.begin({ content: longText(230) });
    const pages = [];
    while (service.messages.length > 0) {
      pages.push(service.messages[0]!.body.page);
      await service.step();
    }
    // The last is looked at again where an index shows vectors late.
    expect([...new Set(pages)]).toEqual([undefined, 0, 1, 2, 3]);
    expect(await service.documentOf(uuid)).toMatchObject({ processing_status: 'completed', total_chunks: 230 });
    expect(await textsAsked()).toBe(230);
    await expectTidy(service, 230);
  });

  test('over 4 MiB goes through a queue of its own, from its first step to its last', { tags: 'soak' }, async () => {
    const service = await knowledgeService();
    const filler = `# Data\n\n${'Some words that repeat over and over again in one line of the file. '.repeat(20)}\n\n`;
    await service.begin({ content: '{"a":1}', filename: 'small.json', mimeType: 'application/json' });
    await service.begin({ content: filler.repeat(3200), filename: 'large.md' });
    const queues = service.messages.map(({ queue }) => queue);
    expect(queues).toEqual(['documents', 'documents-large']);
    const large = service.messages[1]!;
    await service.deliver(large);
    expect(service.messages.at(-1)!.queue).toBe('documents-large');
    expect(service.messages.at(-1)!.body.page).toBe(0);
  });

  test('whose messages are lost one after the other is found by the minute tick, wherever it stands', { tags: 'soak' }, async () => {
    const service = await knowledgeService();
    const uuid = await service.begin({ content: longText(120) });
    for (let steps = 1; steps <= 4; steps++) {
      service.messages.length = 0;
      // Minutes go by between the steps.
      await waitForVectors();
      await tickAt(Date.now() + 200_000 * steps, service.bindings);
      const own = service.messages.filter(({ body }) => body.organization_id === service.id);
      expect(own).toHaveLength(1);
      service.messages.splice(0, service.messages.length, ...own);
      expect((await service.documentOf(uuid)).processing_status).toBe(steps === 1 ? 'pending' : 'processing');
      await service.step();
    }
    expect(service.messages).toEqual([]);
    expect(await service.documentOf(uuid)).toMatchObject({ processing_status: 'completed', total_chunks: 120 });
    await expectTidy(service, 120);
    await tickAt(Date.now() + 10_000_000, service.bindings);
    expect(service.messages.filter(({ body }) => body.organization_id === service.id)).toEqual([]);
  });

  test('is left to its message by the minute tick as long as a step may last', async () => {
    const service = await knowledgeService();
    await service.begin({ content: handbook() });
    await service.step();
    service.messages.length = 0;
    await tickAt(Date.now() + 60_000, service.bindings);
    expect(service.messages.filter(({ body }) => body.organization_id === service.id)).toEqual([]);
  });

  test('whose messages all come twice, or late, has one set of chunks', async () => {
    const service = await knowledgeService();
    const uuid = await service.begin({ content: longText(120) });
    const seen = [];
    while (service.messages.length > 0) {
      const message = service.messages.shift()!;
      seen.push(message);
      await service.deliver(message);
      const next = service.messages.splice(0);
      await service.deliver({ ...message });
      service.messages.splice(0, service.messages.length, ...next);
    }
    for (const message of seen) await service.deliver({ ...message });
    await service.work();
    expect(await service.documentOf(uuid)).toMatchObject({ processing_status: 'completed', total_chunks: 120 });
    await expectTidy(service, 120);
  });

  test('has one set of chunks when two isolates take the same step at once', async () => {
    const service = await knowledgeService();
    const uuid = await service.begin({ content: handbook() });
    while (service.messages.length > 0) {
      const [message] = service.messages.splice(0);
      await Promise.all([service.deliver({ ...message! }), service.deliver({ ...message! })]);
    }
    expect(await service.documentOf(uuid)).toMatchObject({ processing_status: 'completed', total_chunks: 3 });
    await expectTidy(service, 3);
  });
});

describe.each(['before', 'after'] as const)('an isolate that dies %s any of its calls', { timeout: 120_000, tags: 'soak' }, (moment) => {
  test('leaves a document that completes, with one set of chunks', async () => {
    const service = await knowledgeService();
    let chunks = 0;
    for (let stage = 0, isLastStage = false; !isLastStage; stage++) {
      for (let n = 1, died = true; died; n++) {
        const uuid = await service.begin({ content: handbook(`${moment} ${stage} ${n}`), filename: `${stage}-${n}.md` });
        for (let step = 0; step < stage; step++) await service.step();
        const { bindings, watch } = dyingAt(service.bindings, n, moment);
        await service.step(bindings);
        died = watch.isDead;
        isLastStage = !died && service.messages.length === 0;
        await service.work();
        const record = await service.documentOf(uuid);
        expect([stage, n, record.processing_status, record.processing_error, record.total_chunks]).toEqual([
          stage,
          n,
          'completed',
          null,
          3,
        ]);
        chunks += 3;
      }
    }
    // A dead publisher may leave the clearing to the tick.
    await tickAt(Date.now() + 1_000_000, service.bindings);
    await service.work();
    const rows = await chunkRows(service.id);
    expect(rows).toHaveLength(chunks);
    expect(await indexedByWords(service.id)).toEqual(rows.map(({ id }) => id));
    expect(await indexOf(service).areVisible(rows.map(({ id }) => id))).toBe(true);
  });

  test('leaves nothing of a deleted document, and the new chunks alone of one that was processed again', async () => {
    const service = await knowledgeService();
    const kept = await service.process({ content: handbook('to be kept'), filename: 'kept.md' });
    const again = await service.client.post(`/knowledge-base/documents/${kept.document_uuid}/reprocess`);
    expect(again.status).toBe(200);
    await service.work();
    for (let n = 1, died = true; died; n++) {
      const { document_uuid: uuid } = await service.process({ content: handbook(`${moment} ${n}`), filename: `${n}.md` });
      await service.client.delete(`/knowledge-base/documents/${uuid}`);
      const { bindings, watch } = dyingAt(service.bindings, n, moment);
      await service.step(bindings);
      died = watch.isDead;
      await service.work();
    }
    await tickAt(Date.now() + 1_000_000, service.bindings);
    await service.work();
    await expectTidy(service, 3);
  });
});

describe('deleting a document while it is processed', () => {
  test('at any step leaves nothing behind', async () => {
    const service = await knowledgeService();
    for (let stage = 0; stage < 4; stage++) {
      const uuid = await service.begin({ content: handbook(`stage ${stage}`) });
      for (let step = 0; step < stage; step++) await service.step();
      expect((await service.client.delete(`/knowledge-base/documents/${uuid}`)).status).toBe(200);
      await service.work();
      await expectTidy(service, 0);
      expect(await service.search('kettle')).toEqual([]);
    }
  });

  test.each([0, 1, 2])('between any two calls of step %i leaves nothing behind', { tags: 'soak' }, async (stage) => {
    const service = await knowledgeService();
    let deletions = 0;
    for (let n = 1; deletions === n - 1; n++) {
      const uuid = await service.begin({ content: handbook(`call ${n}`) });
      for (let step = 0; step < stage; step++) await service.step();
      const { bindings } = interruptedAt(service.bindings, n, 'after', async () => {
        deletions++;
        const waiting = service.messages.splice(0);
        await service.client.delete(`/knowledge-base/documents/${uuid}`);
        await service.work();
        service.messages.push(...waiting);
      });
      await service.step(bindings);
      await service.client.delete(`/knowledge-base/documents/${uuid}`);
      await service.work();
      await expectTidy(service, 0);
    }
    expect(deletions).toBeGreaterThan(4);
  });
});

test.each([
  ['deleting', (path: string, service: KnowledgeService) => service.client.delete(path), 0],
  ['processing again', (path: string, service: KnowledgeService) => service.client.post(`${path}/reprocess`), 3],
])(
  '%s a document between any two calls of its last step is seen to, although its message is lost',
  { tags: 'soak' },
  async (_what, act, chunks) => {
    let actions = 0;
    for (let n = 1; actions === n - 1; n++) {
      const service = await knowledgeService();
      const uuid = await service.begin({ content: handbook() });
      for (let step = 0; step < 2; step++) await service.step();
      const { bindings } = interruptedAt(service.bindings, n, 'after', async () => {
        actions++;
        await act(`/knowledge-base/documents/${uuid}`, service);
      });
      await service.step(bindings);
      service.messages.length = 0;
      for (let ticks = 1; ticks <= 4 && (await hasDue(service)); ticks++) {
        await tickAt(Date.now() + 200_000 * ticks, service.bindings);
        service.messages.splice(0, service.messages.length, ...service.messages.filter(({ body }) => body.organization_id === service.id));
        await service.work();
      }
      await expectTidy(service, actions < n ? 3 : chunks);
    }
    expect(actions).toBeGreaterThan(4);
  },
);

describe('while the embedding provider is down', () => {
  test('a document waits with growing delays, says why, and completes when it is back', async () => {
    const service = await knowledgeService();
    const uuid = await service.begin({ content: handbook() });
    await service.step();
    await fault({ status: 503, headers: { 'retry-after': '7' }, times: 3 });
    const delays = [];
    for (let tries = 0; tries < 3; tries++) {
      const settled = await service.step();
      delays.push((settled as { retriedAfter: number }).retriedAfter);
      const record = await service.documentOf(uuid);
      expect([record.processing_status, record.processing_error]).toEqual(['processing', expect.stringContaining('503')]);
      expect(record.processing_error).not.toContain('test-key');
    }
    expect(delays).toEqual([7, 15, 60]);
    await tickAt(Date.now(), service.bindings);
    expect(service.messages.filter(({ body }) => body.organization_id === service.id)).toHaveLength(1);
    await service.work();
    expect(await service.documentOf(uuid)).toMatchObject({ processing_status: 'completed', processing_error: null, total_chunks: 3 });
    await expectTidy(service, 3);
  });

  test('a document outlasts the tries of its queue: the tick sends for it again, and it completes', async () => {
    const service = await knowledgeService();
    const uuid = await service.begin({ content: handbook() });
    await fault({ status: 503, headers: { 'retry-after': '7' }, times: 6 });
    await service.work();
    expect(await service.documentOf(uuid)).toMatchObject({
      processing_status: 'processing',
      processing_error: expect.stringContaining('503'),
    });
    await tickAt(Date.now() + twentyMinutesMs, service.bindings);
    await service.work();
    expect(await service.documentOf(uuid)).toMatchObject({ processing_status: 'completed', processing_error: null, total_chunks: 3 });
    await tickAt(Date.now() + dayMs, service.bindings);
    expect(await readFailedMessages(service.id)).toEqual([]);
  });

  test('a document that fails for a day fails with the reason, and can be processed again', async () => {
    const service = await knowledgeService();
    const uuid = await service.begin({ content: handbook() });
    await fault({ status: 503, headers: { 'retry-after': '7' }, times: 6 });
    await service.work();
    await exhaustFailedMessages(service.id);
    expect(await service.documentOf(uuid)).toMatchObject({
      processing_status: 'failed',
      processing_error: expect.stringMatching(/503; process the document again/),
      total_chunks: 0,
    });
    await expectTidy(service, 0);
    const again = await service.client.post(`/knowledge-base/documents/${uuid}/reprocess`);
    expect([again.status, again.body.processing_status, again.body.processing_error]).toEqual([200, 'pending', null]);
    await service.work();
    expect(await service.documentOf(uuid)).toMatchObject({ processing_status: 'completed', processing_error: null, total_chunks: 3 });
    await expectTidy(service, 3);
  });

  test('for good, a document fails at once and says what to set', async () => {
    const service = await knowledgeService({ bindings: { OPENAI_API_KEY: '' } });
    const record = await service.process({ content: handbook() });
    expect(record).toMatchObject({
      processing_status: 'failed',
      processing_error: expect.stringMatching(/OPENAI_API_KEY is empty.*process the document again/),
    });
  });
});

describe('processing a document again', () => {
  test('keeps what search finds until the new chunks are there, and none of the old ones then', async () => {
    const service = await knowledgeService();
    const { document_uuid: uuid } = await service.process({ content: handbook() });
    const before = new Set((await chunkRows(service.id)).map(({ id }) => id));
    const begun = await service.client.post(`/knowledge-base/documents/${uuid}/reprocess`);
    expect([begun.status, begun.body]).toMatchObject([200, { processing_status: 'pending', total_chunks: 3 }]);
    while (service.messages.length > 0) {
      expect((await service.search('kettle', { limit: 50 })).length).toBe(3);
      await service.step();
    }
    const found = (await service.search('kettle', { limit: 50 })).map(({ id }) => id);
    expect(found).toHaveLength(3);
    expect(found.some((id) => before.has(id))).toBe(false);
    await expectTidy(service, 3);
  });

  test('is 409 while it is under way', async () => {
    const service = await knowledgeService();
    const uuid = await service.begin({ content: handbook() });
    const again = () => service.client.post(`/knowledge-base/documents/${uuid}/reprocess`);
    expect([(await again()).status, (await again()).body.detail]).toEqual([409, expect.stringContaining('pending')]);
    await service.step();
    expect((await again()).body.detail).toContain('processing');
    await service.work();
    const answers = await Promise.all([again(), again(), again()]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  });

  test('late messages of the making before change nothing', async () => {
    const service = await knowledgeService();
    const uuid = await service.begin({ content: handbook() });
    const messages = [];
    while (service.messages.length > 0) {
      messages.push(service.messages[0]!);
      await service.step();
    }
    await service.client.post(`/knowledge-base/documents/${uuid}/reprocess`);
    const own = service.messages.splice(0);
    for (const message of messages) await service.deliver({ ...message, tries: 0 });
    expect(service.messages).toEqual([]);
    service.messages.push(...own);
    await service.work();
    expect(await service.documentOf(uuid)).toMatchObject({ processing_status: 'completed', total_chunks: 3 });
    await expectTidy(service, 3);
  });

  test('that fails leaves the text that was found before', async () => {
    const service = await knowledgeService();
    const { document_uuid: uuid, custom_metadata } = await service.process({ content: handbook() });
    await env.FILES.delete(custom_metadata.storage_key);
    await service.client.post(`/knowledge-base/documents/${uuid}/reprocess`);
    await service.work();
    expect(await service.documentOf(uuid)).toMatchObject({
      processing_status: 'failed',
      processing_error: 'The file is lost from storage; delete the document and upload it again',
      total_chunks: 3,
    });
    expect((await service.search('kettle')).length).toBe(3);
    await expectTidy(service, 3);
  });
});

describe('a file that cannot be a document', () => {
  test.each([
    ['empty.txt', '', 'The file is empty'],
    ['blank.txt', ' \n\n ', 'nothing but blanks'],
    ['photo.txt', new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]), 'a PNG picture'],
    ['half.pdf', '%PDF-1.7\n1 0 obj\n<< /Type /Catalog', 'damaged'],
    ['bytes.csv', new Uint8Array(5000).map((_, index) => (index * 7) % 32), 'neither text'],
  ])('%s fails with a sentence that says why and what to do', async (filename, content, reason) => {
    const service = await knowledgeService();
    const record = await service.process({ content, filename, mimeType: 'text/plain' });
    expect(record).toMatchObject({ processing_status: 'failed', processing_error: expect.stringContaining(reason), total_chunks: 0 });
    expect(record.processing_error).toMatch(/; \w+/);
    await expectTidy(service, 0);
  });

  test('is a duplicate while another document has its content, and none once that is deleted', async () => {
    const service = await knowledgeService();
    const first = await service.process({ content: handbook(), filename: 'first.md' });
    const second = await service.process({ content: handbook(), filename: 'second.md' });
    expect(second).toMatchObject({
      processing_status: 'failed',
      processing_error: 'The file is a duplicate of first.md, which has the same content; use that one',
      file_hash: first.file_hash,
    });
    expect((await service.client.post(`/knowledge-base/documents/${first.document_uuid}/reprocess`)).status).toBe(200);
    await service.work();
    expect((await service.documentOf(first.document_uuid)).processing_status).toBe('completed');
    await service.client.delete(`/knowledge-base/documents/${first.document_uuid}`);
    await service.client.post(`/knowledge-base/documents/${second.document_uuid}/reprocess`);
    await service.work();
    expect((await service.documentOf(second.document_uuid)).processing_status).toBe('completed');
    await expectTidy(service, 3);
  });

  test('of two equal ones at the same time, one completes', async () => {
    const service = await knowledgeService();
    const uuids = [
      await service.begin({ content: handbook(), filename: 'a.md' }),
      await service.begin({ content: handbook(), filename: 'b.md' }),
    ];
    const messages = service.messages.splice(0);
    await Promise.all(messages.map((message) => service.deliver(message)));
    await service.work();
    const states = await Promise.all(uuids.map(async (uuid) => (await service.documentOf(uuid)).processing_status));
    expect(states.toSorted()).toEqual(['completed', 'failed']);
    await expectTidy(service, 3);
  });
});

test('a step that fails for a reason of our own is tried again, and then says so without its details', async () => {
  const service = await knowledgeService();
  const uuid = await service.begin({ content: handbook() });
  await service.step();
  const broken = withIndexCalls(service.bindings, { upsert: () => Promise.reject(new Error('secret internals')) });
  for (let tries = 0; tries < 6; tries++) await service.step(broken);
  expect(service.messages).toMatchObject([{ queue: 'documents-dead' }]);
  await service.work();
  expect(await service.documentOf(uuid)).toMatchObject({ processing_status: 'processing' });
  await exhaustFailedMessages(service.id);
  const record = await service.documentOf(uuid);
  expect(record).toMatchObject({ processing_status: 'failed', processing_error: expect.stringContaining('The service failed') });
  expect(record.processing_error).not.toContain('secret');
});

describe('a vector index', () => {
  test('that is full fails the document with what to do', async () => {
    const service = await knowledgeService();
    const uuid = await service.begin({ content: handbook() });
    await service.step();
    const message = 'The knowledge base holds 20,000 passages; have it moved';
    const full = Object.assign(new Error(message), { name: 'ServiceError', code: 'provider_failed' });
    await service.step(withIndexCalls(service.bindings, { upsert: () => Promise.reject(full) }));
    await service.work();
    expect(await service.documentOf(uuid)).toMatchObject({ processing_status: 'failed', processing_error: message });
    await expectTidy(service, 0);
  });

  test('that shows vectors late is looked at again, and the document is not completed before', async () => {
    const service = await knowledgeService();
    const uuid = await service.begin({ content: handbook() });
    await service.step();
    await service.step();
    const blind = withIndexCalls(service.bindings, { areVisible: async () => nothing });
    for (const delaySeconds of [2, 4, 6]) {
      await service.step(blind);
      expect(service.messages).toMatchObject([{ delaySeconds, body: { page: 1 } }]);
      expect((await service.documentOf(uuid)).processing_status).toBe('processing');
      expect(await service.search('kettle')).toEqual([]);
    }
    service.messages[0]!.body.looks = 75;
    const patient = structuredClone(service.messages[0]!);
    patient.body.looks = 3;
    await service.deliver(patient);
    expect((await service.documentOf(uuid)).processing_status).toBe('completed');
  });

  test('that never shows them fails the document', async () => {
    const service = await knowledgeService();
    const uuid = await service.begin({ content: handbook() });
    await service.step();
    await service.step();
    service.messages[0]!.body.looks = 75;
    await service.step(withIndexCalls(service.bindings, { areVisible: async () => nothing }));
    expect(await service.documentOf(uuid)).toMatchObject({
      processing_status: 'failed',
      processing_error: expect.stringContaining('within an hour'),
    });
  });
});

test('a file that is still being replaced when processing begins waits for it', async () => {
  const service = await knowledgeService();
  const uuid = await service.begin({ content: handbook() });
  const key = `knowledge_base_uploads/${service.id}/${uuid}.json`;
  const ticket = await (await env.FILES.get(key))!.json<Record<string, unknown>>();
  await env.FILES.put(key, JSON.stringify({ ...ticket, file: null }));
  expect(await service.step()).toEqual({ retriedAfter: 2 });
  await env.FILES.put(key, JSON.stringify({ ...ticket, file: { ...(ticket['file'] as object), etag: '0'.repeat(32) } }));
  expect(await service.step()).toEqual({ retriedAfter: 15 });
  expect((await service.documentOf(uuid)).processing_error).toContain('Another file was being uploaded');
  await env.FILES.put(key, JSON.stringify(ticket));
  await service.work();
  expect((await service.documentOf(uuid)).processing_status).toBe('completed');
});

test('a message that cannot be read is dropped', async () => {
  const service = await knowledgeService();
  expect(await service.deliver({ queue: 'documents', body: { v: 2, kind: 'document' }, tries: 0, delaySeconds: 0 })).toBe('done');
});

describe('journeys hear', () => {
  async function listening(service: KnowledgeService, event: string): Promise<() => Promise<any[]>> {
    const { client } = service;
    const workflow = await client.post('/automation-workflows/', {
      name: event,
      description: '',
      definition: {
        nodes: [
          { id: 'start', type: 'trigger', position: { x: 0, y: 0 }, data: {} },
          { id: 'end', type: 'exit', position: { x: 0, y: 100 }, data: { outcome: 'done' } },
        ],
        edges: [{ id: 'e1', source: 'start', target: 'end' }],
      },
      trigger: {},
      context_schema: {},
      settings: {},
    });
    expect(workflow.status, JSON.stringify(workflow.body)).toBe(201);
    const trigger = await client.post(`/automation-workflows/${workflow.body.id}/triggers`, { type: 'event', config: { event } });
    expect(trigger.status, JSON.stringify(trigger.body)).toBe(201);
    const active = await client.patch(`/automation-workflows/${workflow.body.id}`, { status: 'active' });
    expect(active.status, JSON.stringify(active.body)).toBe(200);
    return async () => (await client.get(`/automation-workflows/${workflow.body.id}/runs`)).body.runs;
  }

  test('of each document that is processed, once', async () => {
    const service = await knowledgeService();
    const runs = await listening(service, 'document.processed');
    const record = await service.process({ content: handbook() });
    for (let again = 0; again < 2; again++) {
      await env.DB.prepare('UPDATE knowledge_document SET due_at = 1 WHERE id = ?').bind(record.id).run();
      await tickAt(Date.now(), service.bindings);
      service.messages.splice(0, service.messages.length, ...service.messages.filter(({ body }) => body.organization_id === service.id));
      await service.work();
    }
    const found = await runs();
    expect(found).toHaveLength(1);
    expect(found[0].initial_context).toMatchObject({
      event_type: 'document.processed',
      document_uuid: record.document_uuid,
      filename: 'handbook.md',
      total_chunks: 3,
    });
    expect(Object.keys(found[0].initial_context)).toEqual(['event_type', ...Object.keys(eventSamples['document.processed'])]);
    await service.client.post(`/knowledge-base/documents/${record.document_uuid}/reprocess`);
    await service.work();
    expect(await runs()).toHaveLength(2);
  });

  test('of each that fails, with the reason', async () => {
    const service = await knowledgeService();
    const [processed, failed] = [await listening(service, 'document.processed'), await listening(service, 'document.failed')];
    await service.process({ content: '', filename: 'empty.txt', mimeType: 'text/plain' });
    expect(await processed()).toEqual([]);
    const contexts = (await failed()).map(({ initial_context }) => initial_context);
    expect(contexts.map((one) => Object.keys(one))).toEqual([['event_type', ...Object.keys(eventSamples['document.failed'])]]);
    expect(contexts).toMatchObject([
      { event_type: 'document.failed', filename: 'empty.txt', processing_error: expect.stringContaining('empty') },
    ]);
  });

  test('nothing of one that was deleted before its end', async () => {
    const service = await knowledgeService();
    const runs = await listening(service, 'document.failed');
    const uuid = await service.begin({ content: '', filename: 'empty.txt', mimeType: 'text/plain' });
    await service.client.delete(`/knowledge-base/documents/${uuid}`);
    await service.work();
    expect(await runs()).toEqual([]);
  });
});
