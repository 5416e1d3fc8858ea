import { setTimeout as sleep } from 'node:timers/promises';
import type { Call, KillableService } from './killable-service.ts';

/** One sample of a campaign: the answers of `GET /campaign/{id}` and of `/progress`. */
export interface Sample {
  record: any;
  progress: any;
}

export interface Limits {
  /** Rows of the source. */
  rows: number;
  maxConcurrency: number;
  organization: number;
}

const ends = ['completed', 'failed', 'skipped'] as const;
const sumOf = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

/** Sums that do not add up in a sample, and counts that are lower than in the sample before. */
function faultsOf({ record, progress }: Sample, before: Sample | null, limits: Limits): string[] {
  const faults: string[] = [];
  const check = (holds: boolean, what: string, seen: unknown) => {
    if (!holds) faults.push(`${what}: ${JSON.stringify(seen)}`);
  };
  const { rows } = progress;
  check(sumOf(rows) === progress.total_rows, 'rows by state do not add up to total_rows', progress);
  check(progress.in_flight === rows.dialing + rows.in_call, 'in_flight is not dialing and in_call', progress);
  for (const state of ends) check(progress[`${state}_rows`] === rows[state], `${state}_rows is not the rows of that state`, progress);
  for (const counts of [record, progress]) {
    const processed = counts.completed_rows + counts.failed_rows + counts.skipped_rows;
    check(counts.processed_rows === processed, 'processed_rows is not completed, failed and skipped', counts);
    check(counts.processed_rows + counts.in_flight <= counts.total_rows, 'more rows are processed and in flight than there are', counts);
    check(counts.total_rows <= limits.rows, 'there are more rows than the source has', counts);
    check(!['running', 'completed'].includes(counts.state) || counts.total_rows === limits.rows, 'rows are missing', counts);
    check(counts.state !== 'completed' || counts.processed_rows === limits.rows, 'it is completed before its last row', counts);
  }
  const { waiting } = progress;
  check(!waiting || waiting.live <= limits.maxConcurrency, 'more calls are live than max_concurrency', waiting);
  check(!waiting || waiting.organization_live <= limits.organization, 'more calls are live than the organization may have', waiting);
  // The record is read first, then the progress.
  check(record.processed_rows <= progress.processed_rows, 'processed_rows has shrunk', [record, progress]);
  if (before) check(before.progress.processed_rows <= record.processed_rows, 'processed_rows has shrunk', [before.progress, record]);
  return faults;
}

const betweenMs = 100;

/** Samples a campaign until the test stops it. While the service is down the sampler waits; a late answer counts, too. */
export class CampaignSampler {
  readonly #service: KillableService;
  readonly #campaignId: number;
  readonly #limits: Limits;
  readonly #sampling: Promise<void>;
  #isOver = false;
  /** True during a kill, when a missing or bad answer is no fault. */
  isDown = false;
  samples = 0;
  maxLive = 0;
  readonly faults: string[] = [];
  last: Sample | null = null;

  constructor(service: KillableService, campaignId: number, limits: Limits) {
    this.#service = service;
    this.#campaignId = campaignId;
    this.#limits = limits;
    this.#sampling = this.#sample();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#sampling;
  }

  async #sample(): Promise<void> {
    for (; !this.#isOver; await sleep(betweenMs)) {
      const record = await this.#read(`/campaign/${this.#campaignId}`);
      const progress = record && (await this.#read(`/campaign/${this.#campaignId}/progress`));
      if (!progress) continue;
      const sample = { record, progress };
      this.faults.push(...faultsOf(sample, this.last, this.#limits));
      this.maxLive = Math.max(this.maxLive, progress.waiting?.live ?? 0);
      this.last = sample;
      this.samples += 1;
    }
  }

  /** Null when a kill prevented the answer. */
  async #read(path: string): Promise<any> {
    const call: Call = { method: 'GET', path };
    const wasDown = this.isDown;
    const answer = await this.#service.call(call).catch((error: Error) => ({ status: 0, body: error.message }));
    if (answer.status === 200) return answer.body;
    if (!wasDown && !this.isDown) this.faults.push(`GET ${path} was answered ${answer.status} ${JSON.stringify(answer.body)}`);
    return null;
  }
}
