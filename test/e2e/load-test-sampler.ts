import { setTimeout as sleep } from 'node:timers/promises';
import type { KillableService } from './killable-service.ts';

const statuses = ['pending', 'running', 'completed', 'failed', 'stopped'] as const;
const ends = ['completed', 'failed', 'stopped', 'passed'] as const;

/** What does not add up in the statistics of a load test, or goes backwards since those before. */
function faultsOf(statistics: any, before: any, { total, concurrency }: { total: number; concurrency: number }): string[] {
  const faults: string[] = [];
  const { sessions, ...counts } = statistics;
  const check = (holds: boolean, what: string) => {
    if (!holds) faults.push(`${what}: ${JSON.stringify(counts)}`);
  };
  check(counts.total === total && sessions.length === total, 'sessions are missing');
  check(statuses.reduce((sum, status) => sum + counts[status], 0) === total, 'sessions by status do not add up to the total');
  for (const status of statuses) {
    const shown = sessions.filter((session: any) => session.status === status).length;
    check(shown === counts[status], `${shown} of the sessions shown are ${status}`);
  }
  check(counts.running <= concurrency, 'more sessions run than may');
  check(counts.achieved_concurrency_max <= concurrency, 'more sessions ran than may');
  check(counts.passed <= counts.completed, 'more have passed than completed');
  check((counts.status === 'running') === counts.pending + counts.running > 0, 'it is over before its last session, or goes on after it');
  if (before) for (const end of ends) check(before[end] <= counts[end], `${end} has shrunk from ${before[end]}`);
  return faults;
}

const betweenMs = 250;

/** Samples a load test until the test stops it. While the service is down the sampler waits; a late answer counts, too. */
export class LoadTestSampler {
  readonly #service: KillableService;
  readonly #id: number;
  readonly #limits: { total: number; concurrency: number };
  readonly #sampling: Promise<void>;
  #isOver = false;
  /** True during a kill, when a missing or bad answer is no fault. */
  isDown = false;
  samples = 0;
  /** The number of running sessions in each sample during which the service was up and sessions were left to start. */
  readonly running: number[] = [];
  /** How long the statistics took to come, in ms. */
  readonly answerMs: number[] = [];
  readonly faults: string[] = [];
  last: any = null;

  constructor(service: KillableService, id: number, limits: { total: number; concurrency: number }) {
    this.#service = service;
    this.#id = id;
    this.#limits = limits;
    this.#sampling = this.#sample();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#sampling;
  }

  async #sample(): Promise<void> {
    for (; !this.#isOver; await sleep(betweenMs)) {
      const active = await this.#read('/simtest/active-tests');
      const askedAt = performance.now();
      const statistics = active && (await this.#read(`/simtest/load-tests/${this.#id}/stats`));
      if (!statistics) continue;
      this.answerMs.push(performance.now() - askedAt);
      this.faults.push(...faultsOf(statistics, this.last, this.#limits));
      if (active.count > this.#limits.concurrency) this.faults.push(`the rows of ${active.count} sessions say that they run`);
      if (statistics.pending > 0 && !this.isDown) this.running.push(active.count);
      this.last = statistics;
      this.samples += 1;
    }
  }

  /** Null when a kill prevented the answer. */
  async #read(path: string): Promise<any> {
    const wasDown = this.isDown;
    const answer = await this.#service.call({ method: 'GET', path }).catch((error: Error) => ({ status: 0, body: error.message }));
    if (answer.status === 200) return answer.body;
    if (!wasDown && !this.isDown) this.faults.push(`GET ${path} was answered ${answer.status} ${JSON.stringify(answer.body)}`);
    return null;
  }
}
