// @module-tag soak
import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { parseOrganizationCommand } from '../../scripts/local/organization-command.ts';
import { getVectorIndex } from '../../src/providers/vector-index/get-vector-index.ts';
import type { IndexName, VectorIndex } from '../../src/providers/vector-index/vector-index.ts';
import { deliver, tickAt } from '../support/background.ts';
import { StrictVectorize } from '../support/vectorize.ts';
import { dyingAt, interruptedAt } from './interrupted-bindings.ts';
import { chunkRows, handbook, knowledgeService, longText, type KnowledgeService } from './knowledge-service.ts';

const names = { embedded: 'vectorize', vectorize: 'embedded' } as const;

interface Row {
  kept_in: string | null;
  other: string | null;
  phase: string | null;
  move_to: string | null;
  moved: number;
  total: number;
  missing: number;
  missing_documents: string;
  error: string | null;
  due_at: number | null;
  finished_at: number | null;
}

/** A service whose organization has its vectors in `from`, with a Vectorize index of the test's own. */
async function movingService(from: IndexName) {
  const vectorize = new StrictVectorize();
  const sent: any[] = [];
  const queue = { send: async (body: unknown) => void sent.push(structuredClone(body)), sendBatch: async () => undefined };
  const service = await knowledgeService({ bindings: { VECTORS: vectorize, VECTOR_BACKEND: from, FANOUT_QUEUE: queue } });
  const to = names[from];
  const row = async () => (await env.DB.prepare('SELECT * FROM vector_placement WHERE organization_id = ?').bind(service.id).first<Row>())!;
  /** What the command line does. */
  const command = (index: string) => env.DB.prepare(parseOrganizationCommand(['move-vectors', String(service.id), index]).sql).run();
  /** Lets time pass: what is due is due now, and Vectorize has done what it took. */
  const wait = async () => {
    vectorize.settle();
    await env.DB.prepare('UPDATE vector_placement SET due_at = 1 WHERE organization_id = ? AND due_at IS NOT NULL').bind(service.id).run();
    await env.DB.prepare('UPDATE knowledge_document SET due_at = 1 WHERE organization_id = ? AND due_at IS NOT NULL')
      .bind(service.id)
      .run();
  };
  const step = (bindings: Env = service.bindings) =>
    deliver('fanout', [{ v: 1, kind: 'vector_move', organization_id: service.id }], bindings);
  /** Steps until `isThere`, with time passing between them. */
  const stepUntil = async (isThere: (now: Row) => boolean) => {
    for (let steps = 0; steps < 60; steps++) {
      if (isThere(await row())) return;
      await wait();
      await step();
    }
    throw new Error(`the move does not get there: ${JSON.stringify(await row())}`);
  };
  const workWithTime = async () => {
    for (let rounds = 0; rounds < 100; rounds++) {
      vectorize.settle();
      if (!(await service.step())) return;
    }
    throw new Error('documents without end');
  };
  const process = async (content: string): Promise<string> => {
    const uuid = await service.begin({ content });
    await workWithTime();
    return uuid;
  };
  const index = (name: IndexName) => getVectorIndex(service.bindings, name, service.id);
  return { service, vectorize, sent, from, to, row, command, wait, step, stepUntil, workWithTime, process, index };
}

type Moving = Awaited<ReturnType<typeof movingService>>;

const isOver = ({ due_at }: Row) => due_at === null;
const vectorsIn = async (index: VectorIndex) =>
  (await index.query(new Float32Array(1536).fill(1), { topK: 100 })).map(({ id }) => id).toSorted((a, b) => a - b);

/** Each chunk has its vector where search looks, and there is no other anywhere. */
async function expectExact({ service, vectorize, index, row }: Moving): Promise<void> {
  vectorize.settle();
  const ids = (await chunkRows(service.id)).map(({ id }) => id);
  const { kept_in: keptIn } = await row();
  const other = keptIn === 'embedded' ? 'vectorize' : 'embedded';
  expect(await vectorsIn(index(keptIn as IndexName))).toEqual(ids);
  expect(await vectorsIn(index(other))).toEqual([]);
}

/** Clears away what documents left. */
async function settleDocuments({ service, wait, workWithTime }: Moving): Promise<void> {
  await wait();
  const due = await env.DB.prepare(
    'SELECT id, organization_id, next_generation FROM knowledge_document WHERE organization_id = ? AND due_at IS NOT NULL',
  )
    .bind(service.id)
    .all<{ id: number; organization_id: number; next_generation: number }>();
  for (const { id, organization_id, next_generation: generation } of due.results)
    await service.bindings.DOCUMENTS_QUEUE.send({ v: 1, kind: 'document', organization_id, id, generation });
  await workWithTime();
}

describe.each(['embedded', 'vectorize'] as const)('vectors that move out of %s', { timeout: 180_000 }, (from) => {
  test('are found as before at each step, with the same similarities, and are nowhere else in the end', async () => {
    const moving = await movingService(from);
    const { service, to, command, wait, step, row } = moving;
    await moving.process(handbook());
    await moving.process(longText(40));
    const before = await service.search('kettle warranty', { limit: 5 });
    await command(to);
    const phases: (string | null)[] = [];
    for (let steps = 0; steps < 40 && !isOver(await row()); steps++) {
      await wait();
      await step();
      const found = await service.search('kettle warranty', { limit: 5 });
      expect(found.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
      for (const [place, { similarity }] of found.entries()) expect(similarity).toBeCloseTo(before[place].similarity, 4);
      phases.push((await row()).phase);
    }
    expect([...new Set(phases)]).toEqual(['copying', 'clearing', null]);
    const chunks = (await chunkRows(service.id)).length;
    expect(await row()).toMatchObject({
      kept_in: to,
      other: null,
      move_to: null,
      moved: chunks,
      total: chunks,
      missing: 0,
      error: null,
      due_at: null,
    });
    await expectExact(moving);
  });

  test('stay with their chunks while documents are processed, processed again and deleted at each step', async () => {
    const moving = await movingService(from);
    const { service, to, command, wait, step, row, workWithTime } = moving;
    const uuids = [await moving.process(handbook('one')), await moving.process(handbook('two')), await moving.process(longText(30))];
    await command(to);
    for (let steps = 0; steps < 40 && !isOver(await row()); steps++) {
      await wait();
      if (steps % 3 === 0) uuids.push(await service.begin({ content: handbook(`number ${steps}`) }));
      if (steps % 3 === 1) await service.client.post(`/knowledge-base/documents/${uuids.at(-1)}/reprocess`);
      if (steps === 1) await service.client.delete(`/knowledge-base/documents/${uuids[0]}`);
      if (steps === 3) await service.client.delete(`/knowledge-base/documents/${uuids[1]}`);
      await service.step();
      await step();
      const found = (await service.search('one two', { limit: 20 })).map(({ document_uuid }) => document_uuid);
      expect(found.includes(uuids[0])).toBe(steps < 1);
      await workWithTime();
    }
    await settleDocuments(moving);
    await moving.stepUntil(isOver);
    const { results } = await env.DB.prepare('SELECT status FROM knowledge_document WHERE organization_id = ? AND is_active')
      .bind(service.id)
      .all();
    expect(results.length).toBeGreaterThan(3);
    expect(results.every(({ status }) => status === 'completed')).toBe(true);
    expect((await row()).kept_in).toBe(to);
    await expectExact(moving);
  });

  test('go on after the service died at any of its calls, once the tick sends for them', async () => {
    for (let call = 1; call <= 8; call++)
      for (const moment of ['before', 'after'] as const) {
        const moving = await movingService(from);
        await moving.process(handbook(`${call} ${moment}`));
        await moving.command(moving.to);
        await moving.wait();
        await moving.step();
        await moving.step(dyingAt(moving.service.bindings, call, moment).bindings);
        const { due_at: dueAt } = await moving.row();
        expect(dueAt).not.toBeNull();
        await tickAt(dueAt! + 60_000, moving.service.bindings);
        await moving.stepUntil(isOver);
        expect((await moving.row()).kept_in).toBe(moving.to);
        await expectExact(moving);
      }
  });

  test('of a chunk that is written between any two calls of a step are in the end where search looks', async () => {
    for (let call = 1; call <= 8; call++) {
      const moving = await movingService(from);
      const { service, row } = moving;
      const first = await moving.process(handbook('first'));
      const second = await moving.process(handbook('second'));
      await moving.command(moving.to);
      await moving.wait();
      if (call % 2) await moving.step();
      const { bindings } = interruptedAt(service.bindings, call, 'before', async () => {
        await moving.process(handbook('meanwhile'));
        await service.client.delete(`/knowledge-base/documents/${call % 3 === 0 ? second : first}`);
        await moving.workWithTime();
      });
      await moving.step(bindings);
      await settleDocuments(moving);
      await moving.stepUntil(({ phase }) => phase !== 'copying');
      await settleDocuments(moving);
      await moving.stepUntil(isOver);
      await settleDocuments(moving);
      expect((await row()).kept_in).toBe(moving.to);
      await expectExact(moving);
    }
  });

  test('of a page that is embedded while the move begins, turns or ends are in the end where search looks', async () => {
    for (let call = 1; call <= 8; call++) {
      const moving = await movingService(from);
      const { service, stepUntil } = moving;
      await moving.process(handbook('there before'));
      await service.begin({ content: handbook(`embedded meanwhile ${call}`) });
      await service.step();
      const phases: ((now: Row) => boolean)[] = [({ phase }) => phase === 'copying', ({ phase }) => phase === 'clearing', isOver];
      await moving.command(moving.to);
      if (call % 2) await stepUntil(phases[0]!);
      const { bindings } = interruptedAt(service.bindings, call, 'before', () => stepUntil(phases[call % 3]!));
      await service.step(bindings);
      await moving.workWithTime();
      await stepUntil(isOver);
      await expectExact(moving);
      expect((await service.search('embedded meanwhile', { limit: 3 })).length).toBeGreaterThan(0);
    }
  });

  test('go back when the operator changes their mind in the midst', async () => {
    const moving = await movingService(from);
    await moving.process(longText(30));
    await moving.command(moving.to);
    await moving.stepUntil(({ moved }) => moved > 0);
    await moving.command(from);
    await moving.stepUntil(isOver);
    expect(await moving.row()).toMatchObject({ kept_in: from, move_to: null, phase: null });
    await expectExact(moving);
  });
});

describe('a move', () => {
  test('of which the new index takes no more is called off with the reason, and nothing of it stays', async () => {
    const moving = await movingService('vectorize');
    const { service } = moving;
    await moving.process(handbook());
    const full = Object.assign(new Error('holds 20,000 passages'), { name: 'ServiceError', code: 'provider_failed' });
    const real = service.bindings.VECTOR_INDEX;
    const VECTOR_INDEX = {
      getByName: (name: string) =>
        new Proxy({} as object, {
          get: (_target, method: string) =>
            method === 'upsert' ? () => Promise.reject(full) : (...given: unknown[]) => (real.getByName(name) as any)[method](...given),
        }),
    };
    await moving.command('embedded');
    await moving.wait();
    await moving.step();
    const bindings = { ...service.bindings, VECTOR_INDEX } as unknown as Env;
    const uuid = await service.begin({ content: handbook('added while it is full') });
    await service.step();
    await service.step(bindings);
    expect(await moving.row()).toMatchObject({ phase: 'clearing', kept_in: 'vectorize', error: full.message });
    await moving.workWithTime();
    expect((await service.documentOf(uuid)).processing_status).toBe('completed');
    await moving.stepUntil(isOver);
    expect(await moving.row()).toMatchObject({ kept_in: 'vectorize', error: full.message, move_to: null });
    await expectExact(moving);

    await moving.command('embedded');
    await moving.wait();
    await moving.step();
    await moving.step(bindings);
    await moving.stepUntil(isOver);
    expect(await moving.row()).toMatchObject({ kept_in: 'vectorize', error: full.message, move_to: null });
    await expectExact(moving);
  });

  test('turns search only once Vectorize shows what was copied', async () => {
    const moving = await movingService('embedded');
    await moving.process(handbook());
    await moving.command('vectorize');
    for (let steps = 0; steps < 6; steps++) {
      await env.DB.prepare('UPDATE vector_placement SET due_at = 1 WHERE organization_id = ?').bind(moving.service.id).run();
      await moving.step();
      expect(await moving.row()).toMatchObject({ kept_in: 'embedded', phase: 'copying' });
    }
    await moving.stepUntil(({ phase }) => phase === 'clearing');
    expect((await moving.row()).kept_in).toBe('vectorize');
  });

  test('waits for vectors that Vectorize does not show yet, and names the documents of those that it never shows', async () => {
    const moving = await movingService('vectorize');
    const uuid = await moving.process(handbook());
    const [lost] = (await chunkRows(moving.service.id)).map(({ id }) => id);
    await moving.index('vectorize').remove([lost!]);
    await moving.command('embedded');
    await moving.wait();
    await moving.step();
    await moving.wait();
    await moving.step();
    expect(await moving.row()).toMatchObject({ phase: 'copying', moved: 0, looks: 1 });
    await env.DB.prepare('UPDATE vector_placement SET looks = 75 WHERE organization_id = ?').bind(moving.service.id).run();
    await moving.stepUntil(isOver);
    const row = await moving.row();
    expect(row).toMatchObject({ kept_in: 'embedded', missing: 1, moved: 2 });
    expect(JSON.parse(row.missing_documents)).toEqual([uuid]);
  });

  test('to an index that is not bound says so, and goes on once it is', async () => {
    const moving = await movingService('embedded');
    await moving.process(handbook());
    await moving.command('vectorize');
    await moving.wait();
    await moving.step({ ...moving.service.bindings, VECTORS: undefined } as unknown as Env);
    expect(await moving.row()).toMatchObject({ phase: null, kept_in: 'embedded', error: expect.stringContaining('bound as VECTORS') });
    await moving.stepUntil(isOver);
    expect(await moving.row()).toMatchObject({ kept_in: 'vectorize', error: null });
  });

  test('to where they are is over at once', async () => {
    const moving = await movingService('embedded');
    await moving.process(handbook());
    await moving.command('embedded');
    await moving.wait();
    await moving.step();
    expect(await moving.row()).toMatchObject({ kept_in: 'embedded', due_at: null, phase: null, moved: 0 });
  });

  test('that nobody asked for is none, and leaves other organizations alone', async () => {
    const [moving, other] = [await movingService('embedded'), await movingService('embedded')];
    await other.process(handbook());
    await moving.process(handbook());
    await moving.command('vectorize');
    await moving.stepUntil(isOver);
    await other.step();
    expect(await other.row()).toMatchObject({ kept_in: 'embedded', phase: null, due_at: null, moved: 0 });
    await expectExact(other);
    await moving.command('embedded');
    await moving.stepUntil(isOver);
    await expectExact(moving);
  });
});

describe('an organization whose vectors are older than the record of where they are', () => {
  const forget = (id: number) => env.DB.prepare('DELETE FROM vector_placement WHERE organization_id = ?').bind(id).run();

  test.each(['embedded', 'vectorize'] as const)('finds them in %s, whatever VECTOR_BACKEND says by now', async (from) => {
    const moving = await movingService(from);
    await moving.process(handbook());
    await forget(moving.service.id);
    const upgraded = { ...moving.service.bindings, VECTOR_BACKEND: 'vectorize' };
    const found = await knowledgeServiceOf(moving.service, upgraded);
    expect((await found('kettle warranty'))[0].chunk_text).toContain('kettle');
    const uuid = await moving.process(handbook('written later'));
    expect(await moving.row()).toMatchObject({ kept_in: from });
    expect((await moving.service.documentOf(uuid)).processing_status).toBe('completed');
    await expectExact(moving);
  });
});

async function knowledgeServiceOf({ key }: KnowledgeService, bindings: Record<string, unknown>) {
  const { createApp } = await import('../../src/app.ts');
  const { Client } = await import('../support/organization.ts');
  const { createExecutionContext, waitOnExecutionContext } = await import('cloudflare:test');
  const app = createApp();
  const client = new Client(key, async (request) => {
    const execution = createExecutionContext();
    const answer = await app.fetch(request, bindings, execution);
    await waitOnExecutionContext(execution);
    return answer;
  });
  return async (query: string): Promise<any[]> => (await client.post('/knowledge-base/search', { query })).body.chunks;
}
