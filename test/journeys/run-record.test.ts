import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { expect, test } from 'vitest';
import { RunRecord } from '../../durable-objects/automation-run/run-record.ts';
import { StoredJournal } from '../../durable-objects/automation-run/stored-journal.ts';
import { Projection } from '../../durable-objects/shared/projection.ts';
import type { HistoryEntry } from '../../src/automation-workflows/runs/engine/history.ts';
import type { JournalEntry } from '../../src/automation-workflows/runs/engine/journal.ts';
import { startProgress } from '../../src/automation-workflows/runs/engine/progress.ts';
import { createRandom } from '../support/vectors.ts';

const running = startProgress({ startId: 'n1' }, 1);

const stepOf = (number: number, length: number): JournalEntry => ({
  nodeId: `n${number}`,
  nodeType: 'set_context',
  nodeName: null,
  visit: 1,
  attempt: 1,
  status: 'completed',
  input: null,
  output: 'x'.repeat(length),
  error: null,
  startedAt: number,
  completedAt: number,
});

/** An empty object's storage, in which a run is kept as its object keeps it. */
const inStorage = <Result>(use: (storage: DurableObjectStorage) => Result | Promise<Result>): Promise<Result> =>
  runInDurableObject(env.AUTOMATION_RUN.getByName(`record/${crypto.randomUUID()}`), (_object, { storage }) => use(storage));

/** The run as a newly loaded object finds it. */
function load(storage: DurableObjectStorage): { record: RunRecord; journal: StoredJournal } {
  const record = new RunRecord(storage, () => 0);
  const projection = new Projection(record.revisions, record.timers, () => 1);
  return { record, journal: new StoredJournal(storage, record, projection, () => record.create()) };
}

function waitingRun(storage: DurableObjectStorage) {
  const loaded = load(storage);
  loaded.journal.begin(7, 3, running);
  loaded.record.create();
  loaded.record.flush();
  return loaded;
}

test.each([1, 2, 3, 4, 5, 6])('a history is the same whether it is in the record, in the table or in both (%i)', async (seed) => {
  await inStorage((storage) => {
    const random = createRandom(seed);
    const below = (limit: number) => Math.floor(random() * limit);
    let { record, journal } = waitingRun(storage);
    const all: HistoryEntry[] = [];
    for (let step = 1; step <= 150; step++) {
      const begun = { ...stepOf(step, below(2000)), status: 'started' as const, completedAt: null };
      const id = journal.commit({ ...running, stepCount: step }, begun);
      expect(id).toBe(step);
      all.push({ ...begun, id });
      // Some steps stay unfinished for a while, until their record is in the table.
      const open = all.filter(({ status }) => status === 'started');
      const chosen = open[below(open.length)]!;
      expect(journal.unfinishedEntry(chosen.nodeId, 1, 1)).toEqual(chosen);
      if (random() < 0.8) {
        const completed = { ...chosen, status: 'completed' as const, completedAt: step };
        expect(journal.commit({ ...running, stepCount: step }, completed)).toBe(chosen.id);
        all[chosen.id - 1] = completed;
        expect(journal.unfinishedEntry(chosen.nodeId, 1, 1)).toBeNull();
      }
      if (random() < 0.1) ({ record, journal } = load(storage));
      expect(journal.entry(chosen.id)).toEqual(all[chosen.id - 1]);
      const [offset, limit] = [below(step + 3), below(60)];
      expect(journal.entries(offset, limit)).toEqual(all.slice(offset, offset + limit));
      expect(journal.count()).toBe(all.length);
      expect(journal.progress().stepCount).toBe(step);
    }
    expect(record.get().movedEntries).toBeGreaterThan(0);
    expect(JSON.stringify(record.get()).length).toBeLessThan(36_000);
  });
});

test('after a crash, what is stored is the state before steps that have no side effect, or after them all', async () => {
  await inStorage((storage) => {
    const { journal } = waitingRun(storage);
    journal.commit({ ...running, stepCount: 1 }, stepOf(1, 10));
    journal.commit({ ...running, stepCount: 2 }, stepOf(2, 10));
    expect(load(storage).journal.progress().stepCount).toBe(0);
    // The intent of a side effect stores everything before it.
    journal.commit({ ...running, stepCount: 3 }, { ...stepOf(3, 10), status: 'started', completedAt: null });
    const { journal: loaded } = load(storage);
    expect(loaded.progress().stepCount).toBe(3);
    expect(loaded.entries(0, 10).map(({ nodeId }) => nodeId)).toEqual(['n1', 'n2', 'n3']);
  });
});

test('a wait, the end of a wait and a retry are stored as they are committed', async () => {
  await inStorage((storage) => {
    const { journal } = waitingRun(storage);
    const stored = () => load(storage).journal.progress();
    const wait = { kind: 'time' as const, until: 99, historyId: 1 };
    journal.commit({ ...running, state: 'waiting', wait }, { ...stepOf(1, 1), status: 'waiting', completedAt: null });
    expect(stored().wait).toEqual(wait);
    journal.commit({ ...running, stepCount: 1 }, stepOf(1, 1));
    expect(stored()).toMatchObject({ wait: null, stepCount: 1 });
    journal.commit({ ...running, state: 'waiting', retryAt: 50 }, { ...stepOf(2, 1), status: 'retrying' });
    expect(stored().retryAt).toBe(50);
  });
});

test('timers survive with the record that they are stored with', async () => {
  await inStorage(async (storage) => {
    const at = Date.now() + 1_000_000;
    const { record } = waitingRun(storage);
    record.timers.set('advance', at + 0.2);
    record.timers.ensure('advance', at - 5);
    record.timers.ensure('finish', at + 20);
    record.timers.set('withdraw', at - 7);
    record.timers.clear('withdraw');
    await record.timers.arm();
    const { timers } = load(storage).record;
    expect(timers.due(at + 100)).toEqual([
      { kind: 'advance', subject: '', due: at + 1, attempts: 0 },
      { kind: 'finish', subject: '', due: at + 20, attempts: 0 },
    ]);
    expect([timers.earliest(), timers.earliestExcept('advance'), timers.dueAt('finish'), timers.dueAt('retry')]).toEqual([
      at + 1,
      at + 20,
      at + 20,
      null,
    ]);
    expect(await storage.getAlarm()).toBe(at + 1);
    const [advance] = timers.due(at + 1);
    timers.reschedule(advance!, at + 1000, () => 0);
    expect(timers.isUnchanged(advance!)).toBe(false);
    expect(timers.due(at + 100_000).find(({ kind }) => kind === 'advance')).toMatchObject({ attempts: 1, due: at + 1750 });
    await storage.deleteAll();
  });
});
