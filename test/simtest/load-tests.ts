import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { onTestFinished, vi } from 'vitest';
import { shard } from '../../src/database/shards.ts';
import { conflict } from '../../src/library/errors.ts';
import { TestConfig } from '../../src/simtest/config/config.ts';
import type { SessionReport } from '../../src/simtest/contract.ts';
import { insertLoadTest } from '../../src/simtest/load-tests/store.ts';
import type { LoadTestRpc } from '../../src/simtest/load-tests/rpc.ts';
import { newAgent } from '../support/journey-calls.ts';
import { newOrganization } from '../support/organization.ts';
import { recordedDatabase } from '../support/recorded-database.ts';

/** What of an object tests reach into. */
export interface Inside {
  env: Env;
  clock: () => number;
  random: () => number;
  alarm(): Promise<void>;
}

/** Test sessions of one organization without a conversation: they run until the test ends them. */
export class FakeSessions {
  /** The number of starts of each session. */
  readonly begun = new Map<number, number>();
  readonly running = new Set<number>();
  readonly ended = new Set<number>();
  readonly woken: number[] = [];
  readonly stopped: number[] = [];
  /** Sessions that run by their row only, until they are woken. */
  readonly lost = new Set<number>();
  maxRunning = 0;
  /** Set: calls throw. */
  isDown = false;
  /** Wraps each call. */
  watched: <T>(call: () => Promise<T>) => Promise<T> = (call) => call();
  /** Called with each stopped session. */
  whenStopped: (id: number) => Promise<void> = async () => {};

  stubOf(id: number) {
    return {
      startInLoadTest: async () =>
        this.#do(async () => {
          this.begun.set(id, (this.begun.get(id) ?? 0) + 1);
          if (this.ended.has(id)) return { status: 'completed' };
          await env.DB.prepare("UPDATE test_session SET status = 'running', started_at = ? WHERE id = ? AND status = 'pending'")
            .bind(Date.now(), id)
            .run();
          const row = await env.DB.prepare('SELECT status FROM test_session WHERE id = ?').bind(id).first<{ status: string }>();
          if (row!.status !== 'running') return { status: row!.status };
          this.running.add(id);
          this.maxRunning = Math.max(this.maxRunning, this.running.size);
          return { status: 'running' };
        }),
      stop: async () =>
        this.#do(async () => {
          if (!this.running.has(id)) throw conflict('The session is not running');
          this.stopped.push(id);
          await this.whenStopped(id);
          return { status: 'stopped' };
        }),
      wakeStalled: async () =>
        this.#do(async () => {
          this.woken.push(id);
          if (this.lost.delete(id)) this.running.add(id);
        }),
      snapshot: async () => (this.running.has(id) ? { status: 'running' } : null),
    };
  }

  #do<T>(work: () => Promise<T>): Promise<T> {
    return this.watched(async () => {
      if (this.isDown) throw new Error('the session does not answer');
      return work();
    });
  }

  /** Writes the end into the session's row, as a session does before it reports to its load test. */
  async end(id: number, status: SessionReport['status'], outcome: SessionReport['outcome']): Promise<void> {
    this.running.delete(id);
    this.ended.add(id);
    await env.DB.prepare('UPDATE test_session SET status = ?, results = ?, completed_at = ? WHERE id = ?')
      .bind(status, outcome && JSON.stringify({ outcome, stop_reason: 'max_turns', turns: 2, duration_seconds: 1.5 }), Date.now(), id)
      .run();
  }
}

const sessionsOf = new Map<string, FakeSessions>();

/** Until the test is over. Organizations of other tests keep their own. */
function fakeSessions(organizationId: number): FakeSessions {
  const { TEST_SESSION } = env;
  if (vi.isMockFunction(TEST_SESSION.getByName)) vi.mocked(TEST_SESSION.getByName).mockRestore();
  const real = TEST_SESSION.getByName.bind(TEST_SESSION);
  const spy = vi.spyOn(TEST_SESSION, 'getByName').mockImplementation((name) => {
    const [organization, session] = name.split('/') as [string, string];
    return (sessionsOf.get(organization)?.stubOf(Number(session)) as unknown as ReturnType<typeof real> | undefined) ?? real(name);
  });
  onTestFinished(() => spy.mockRestore());
  const sessions = new FakeSessions();
  sessionsOf.set(String(organizationId), sessions);
  return sessions;
}

/** Keeps the ticks of other tests away from a load test whose sessions are no fakes any more. */
export const leaveAlone = async (id: number): Promise<void> =>
  void (await env.DB.prepare('UPDATE load_test SET wake_at = NULL WHERE id = ?').bind(id).run());

export interface LoadOptions {
  count?: number;
  concurrency?: number;
  rampSeconds?: number;
}

/** A load test of an organization of its own, as its row and those of its sessions, which are fakes. Its object is not there yet. */
export async function newLoadTest({ count = 3, concurrency = 2, rampSeconds = 0 }: LoadOptions = {}) {
  const organization = await newOrganization();
  const agentId = await newAgent(organization.id);
  const sessions = fakeSessions(organization.id);
  const { id, sessionIds } = await insertLoadTest(
    shard(env, 0),
    organization.id,
    {
      name: 'Load',
      actor_agent_id: agentId,
      adversary_agent_id: agentId,
      test_count: count,
      concurrency,
      ramp_seconds: rampSeconds,
      config: TestConfig.parse({}),
    },
    Date.now(),
  );
  const stub = () => env.LOAD_TEST.getByName(`${organization.id}/${id}`) as unknown as LoadTestRpc;
  onTestFinished(() => leaveAlone(id));
  return { ...organization, organizationId: organization.id, id, sessionIds, sessions, stub, concurrency, rampSeconds };
}

export type Loaded = Awaited<ReturnType<typeof newLoadTest>>;

export const inside = <Answer>(
  load: Loaded,
  look: (object: Inside, state: DurableObjectState) => Answer | Promise<Answer>,
): Promise<Answer> =>
  runInDurableObject(load.stub() as unknown as DurableObjectStub, (instance, state) =>
    look(instance as unknown as Inside, state),
  ) as Promise<Answer>;

/** A Monday, noon UTC, far enough ahead that no alarm goes off by itself. */
export const monday = Date.UTC(2030, 0, 7, 12);

/** Stops the object's clock at a moment; its alarms then go off by `settle` alone. */
export const standAt = (load: Loaded, now: number): Promise<void> =>
  inside(load, (object) => {
    object.clock = () => now;
    object.random = () => 0;
  });

/** Has the object do all that is due by its clock. */
export const settle = (load: Loaded): Promise<void> =>
  inside(load, async (object, state) => {
    const hasTimers = () => state.storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'timer'").toArray().length > 0;
    const isDue = () => hasTimers() && state.storage.sql.exec('SELECT 1 FROM timer WHERE due <= ?', object.clock()).toArray().length > 0;
    for (let rounds = 0; isDue(); rounds += 1) {
      if (rounds === 20) throw new Error('the object does not come to rest');
      await object.alarm();
    }
  });

/** Moves the clock, and has done what is due then. */
export async function goTo(load: Loaded, now: number): Promise<void> {
  await standAt(load, now);
  await settle(load);
}

/** Begun at a moment of the test's own, with as many sessions as may run. */
export async function standingLoadTest(options: LoadOptions = {}, now = monday): Promise<Loaded> {
  const load = await newLoadTest(options);
  await standAt(load, now);
  await load.stub().begin(load.organizationId, load.id);
  await settle(load);
  return load;
}

export const reportOf = (load: Loaded, id: number, more: Partial<SessionReport> = {}): SessionReport => ({
  sessionId: id,
  testIndex: load.sessionIds.indexOf(id),
  status: 'completed',
  outcome: 'passed',
  error: null,
  durationMs: 1500,
  latenciesMs: [100, 200],
  ...more,
});

/** Ends a session: writes its row, then reports to its load test. */
export async function end(load: Loaded, id: number, more: Partial<SessionReport> = {}): Promise<SessionReport> {
  const report = reportOf(load, id, more);
  await load.sessions.end(id, report.status, report.outcome);
  await load.stub().sessionEnded(report);
  return report;
}

/** Runs `beforeCall`, with the SQL, before each call of the object to D1. */
export const beforeCalls = (load: Loaded, beforeCall: (sql: string[]) => Promise<void>): Promise<void> =>
  inside(load, (object) => {
    const DB = recordedDatabase(env.DB, { statements: [], calls: 0 }, beforeCall);
    object.env = new Proxy(env, { get: (target, name) => (name === 'DB' ? DB : Reflect.get(target, name)) });
  });

/** The load test's row in D1. */
export async function rowOf(load: Loaded): Promise<Record<string, any>> {
  const row = await env.DB.prepare('SELECT * FROM load_test WHERE id = ?').bind(load.id).first<Record<string, any>>();
  return { ...row!, statistics: JSON.parse(row!['statistics'] ?? 'null') };
}

export const sessionStatuses = async (load: Loaded): Promise<string[]> =>
  (
    await env.DB.prepare('SELECT status FROM test_session WHERE load_test_id = ? ORDER BY test_index')
      .bind(load.id)
      .all<{ status: string }>()
  ).results.map(({ status }) => status);

/** A conflict as it comes over from the object. */
export const refusal = (act: Promise<unknown>): Promise<Error & { code?: string }> =>
  act.then(
    () => {
      throw new Error('it was not refused');
    },
    (error: unknown) => error as Error & { code?: string },
  );
