import { randomUUID } from 'node:crypto';
import type { LoadTestStatistics } from '../../src/simtest/load-tests/statistics.ts';
import { requestWithRetries, RequestRefused } from '../local/request-with-retries.ts';
import type { OnRetry, RetriedRequest, Target } from '../local/request-with-retries.ts';
import { LocalError } from '../local/settings.ts';

/** The body of `POST /simtest/load-tests`. */
export interface NewLoadTest {
  name: string;
  actor_workflow_id: number;
  adversary_workflow_id: number;
  test_count: number;
  concurrency: number;
  ramp_seconds: number;
  config: object;
}

/** `GET /simtest/load-tests/{load_test_group_id}/stats`, as far as it is read. */
export interface Statistics extends LoadTestStatistics {
  load_test_group_id: number;
  sessions: { test_session_id: number; error: string | null }[];
}

/** What is read of a session of `GET /simtest/test-sessions`. */
export interface Session {
  id: number;
  results: { checks: { name: string; required: boolean; passed: boolean | null }[] } | null;
}

const pageRows = 100;

/** The load tests of a service. What it does not take is a `LocalError`. */
export class LoadTests {
  readonly #target: Target;
  readonly #onWait: OnRetry;

  constructor(target: Target, onWait: OnRetry) {
    this.#target = target;
    this.#onWait = onWait;
  }

  /** Creates a load test, which begins at once; a lost answer makes no second one. Answers its id. */
  async create(loadTest: NewLoadTest): Promise<number> {
    const body = JSON.stringify(loadTest);
    const { load_test_group_id: id } = await this.#ask<{ load_test_group_id: number }>({
      method: 'POST',
      path: '/simtest/load-tests',
      body,
      idempotencyKey: randomUUID(),
    });
    return id;
  }

  read(id: number): Promise<Statistics> {
    return this.#ask({ method: 'GET', path: `/simtest/load-tests/${id}/stats` });
  }

  async stop(id: number): Promise<void> {
    await this.#ask({ method: 'POST', path: `/simtest/load-tests/${id}/stop`, idempotencyKey: randomUUID() });
  }

  /** The sessions that have come to their results. */
  async completed(id: number): Promise<Session[]> {
    const sessions: Session[] = [];
    for (;;) {
      const path = `/simtest/test-sessions?load_test_group_id=${id}&status=completed&limit=${pageRows}&offset=${sessions.length}`;
      const { test_sessions: page } = await this.#ask<{ test_sessions: Session[] }>({ method: 'GET', path });
      sessions.push(...page);
      if (page.length < pageRows) return sessions;
    }
  }

  async #ask<Body>(request: RetriedRequest): Promise<Body> {
    try {
      return JSON.parse(await requestWithRetries(this.#target, request, this.#onWait)) as Body;
    } catch (error) {
      if (error instanceof RequestRefused) throw new LocalError(`${request.method} ${request.path}: ${error.message}`);
      if (error instanceof SyntaxError) throw new LocalError(`What answers at ${this.#target.baseUrl} is not this service.`);
      throw error;
    }
  }
}
