import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../bench/statistics.ts';
import { rowsOf } from './kill-evidence.ts';
import type { KillableService } from './killable-service.ts';
import { Tenant } from './neighbour-tenant.ts';
import { until } from './service-watch.ts';

const paceMs = 250;

const probes = ['event', 'webhook', 'search'] as const;
export type Probe = (typeof probes)[number] | 'schedule';

interface Phase {
  name: string;
  from: number;
  to: number;
  /** Durations by probe, in ms. */
  times: Record<(typeof probes)[number], number[]>;
}

interface StoredRun {
  workflow_id: number;
  source_key: string | null;
  state: string;
  created_at: number;
  completed_at: number | null;
}

const minuteOf = ({ created_at: at }: StoredRun): number => Math.floor(at / 60_000) * 60_000;

/**
 * An organization that does little: some events, webhooks and searches a second, and a journey each minute. It notes how long
 * each takes, by phase, and knows in the end whether anything of it was lost.
 */
export class QuietNeighbour {
  readonly #service: KillableService;
  readonly #tenant: Tenant;
  readonly #workflows: { event: number; webhook: number; schedule: number };
  readonly #webhook: string;
  readonly #since = Date.now();
  readonly #phases: Phase[] = [];
  readonly #sentWebhooks = new Map<string, { at: number; phase: Phase }>();
  #sentEvents = 0;
  /** Requests that were not answered as they should be. */
  readonly failures: string[] = [];

  private constructor(
    service: KillableService,
    tenant: Tenant,
    workflows: { event: number; webhook: number; schedule: number },
    webhook: string,
  ) {
    this.#service = service;
    this.#tenant = tenant;
    this.#workflows = workflows;
    this.#webhook = webhook;
  }

  static async create(service: KillableService): Promise<QuietNeighbour> {
    const tenant = await Tenant.create(service);
    const event = await tenant.activate({ name: 'Event', trigger: { type: 'contact_event', config: { event_types: ['ordered'] } } });
    const config = { auth: { type: 'none' }, delivery_id: 'X-Delivery' };
    const webhook = await tenant.activate({ name: 'Webhook', trigger: { type: 'webhook', config } });
    const schedule = await tenant.activate({
      name: 'Minute',
      trigger: { type: 'schedule', config: { cron: '* * * * *', timezone: 'UTC' } },
    });
    const document = await tenant.addDocument('returns.md', 'text/markdown', '# Returns\n\nShoes can be sent back within 30 days.\n');
    await until(service, 'the document is completed', 60, async () => {
      const { processing_status: status } = await tenant.get(`/knowledge-base/documents/${document}`);
      return status === 'completed';
    });
    return new QuietNeighbour(service, tenant, { event, webhook, schedule }, await tenant.webhookOf(webhook));
  }

  /** Sends requests at a fixed pace for that time, then waits for the answers. Each answer must be a success. */
  async probe(name: string, milliseconds: number): Promise<void> {
    const phase: Phase = { name, from: Date.now(), to: Date.now() + milliseconds, times: { event: [], webhook: [], search: [] } };
    this.#phases.push(phase);
    const answers: Promise<void>[] = [];
    for (let number = 0; Date.now() < phase.to; number++) {
      answers.push(this.#sendEvent(phase), this.#sendWebhook(phase, number), this.#search(phase));
      await sleep(Math.max(0, phase.from + (number + 1) * paceMs - Date.now()));
    }
    await Promise.all(answers);
  }

  async #timed(phase: Phase, probe: 'event' | 'search', work: Promise<unknown>): Promise<void> {
    const startedAt = performance.now();
    await work.catch((error: Error) => this.#fail(phase, error));
    phase.times[probe].push(performance.now() - startedAt);
  }

  #fail(phase: Phase, { message }: Error): void {
    this.failures.push(`${phase.name}, after ${((Date.now() - phase.from) / 1000).toFixed(1)} s: ${message}`);
  }

  async #sendEvent(phase: Phase): Promise<void> {
    this.#sentEvents += 1;
    await this.#timed(phase, 'event', this.#tenant.post('/events', { event_type: 'ordered', data: { number: this.#sentEvents } }));
  }

  async #search(phase: Phase): Promise<void> {
    await this.#timed(phase, 'search', this.#tenant.post('/knowledge-base/search', { query: 'How long can shoes be sent back?' }));
  }

  async #sendWebhook(phase: Phase, number: number): Promise<void> {
    const delivery = `${phase.from}-${number}`;
    this.#sentWebhooks.set(delivery, { at: Date.now(), phase });
    await this.#tenant.post(this.#webhook, { number }, { 'X-Delivery': delivery }).catch((error: Error) => this.#fail(phase, error));
  }

  /** The runs of this organization, oldest first, read from the database. */
  #runs(): StoredRun[] {
    const { event, webhook, schedule } = this.#workflows;
    return rowsOf(
      this.#service.stateDirectory,
      `SELECT r.workflow_id, d.delivery_id AS source_key, r.state, r.created_at, r.completed_at
       FROM automation_run r LEFT JOIN webhook_delivery d ON r.source = 'delivery' AND d.id = r.source_id
       WHERE r.workflow_id IN (${event}, ${webhook}, ${schedule}) ORDER BY r.id`,
    ) as StoredRun[];
  }

  /** Full minutes since it exists, each of which must have fired once. */
  #minutes(): number[] {
    const first = Math.ceil(this.#since / 60_000);
    const last = Math.floor(this.#phases.at(-1)!.to / 60_000);
    return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * 60_000);
  }

  /** Resolves once every event, webhook and minute has its completed run, and none has two; throws when that takes over a minute. */
  async requireNothingLost(): Promise<{ events: number; webhooks: number; minutes: number }> {
    const wanted = { events: this.#sentEvents, webhooks: this.#sentWebhooks.size, minutes: this.#minutes().length };
    const isSo = async () => JSON.stringify(this.#counts()) === JSON.stringify({ ...wanted, deliveries: wanted.webhooks });
    await until(this.#service, `each of ${JSON.stringify(wanted)} has one run`, 60, isSo).catch((error: Error) => {
      throw new Error(`${error.message}\nThere are ${JSON.stringify(this.#counts())}`);
    });
    return wanted;
  }

  /** Of completed runs. */
  #counts(): { events: number; webhooks: number; minutes: number; deliveries: number } {
    const completed = this.#runs().filter(({ state }) => state === 'completed');
    const [events, webhooks, fires] = [this.#workflows.event, this.#workflows.webhook, this.#workflows.schedule].map((workflow) =>
      completed.filter((run) => run.workflow_id === workflow),
    ) as [StoredRun[], StoredRun[], StoredRun[]];
    const inMinute = (minute: number) => fires.filter((run) => minuteOf(run) === minute);
    return {
      events: events.length,
      webhooks: webhooks.length,
      minutes: this.#minutes().filter((minute) => inMinute(minute).length === 1).length,
      deliveries: new Set(webhooks.map(({ source_key: key }) => key)).size,
    };
  }

  /** The 99th percentile of each probe in milliseconds, by the phases' names; of schedules the longest time from the minute to the ended run. */
  figures(): { name: string; p99: Partial<Record<Probe, number>> }[] {
    const runs = this.#runs();
    for (const { times } of this.#phases) times.webhook = [];
    for (const run of runs) {
      const sent = run.source_key === null ? undefined : this.#sentWebhooks.get(run.source_key);
      if (sent && run.completed_at !== null) sent.phase.times.webhook.push(run.completed_at - sent.at);
    }
    return [...Map.groupBy(this.#phases, ({ name }) => name)].map(([name, phases]) => {
      const late = runs
        .filter((run) => run.workflow_id === this.#workflows.schedule)
        .filter(({ created_at: at }) => phases.some(({ from, to }) => at >= from && at < to))
        .map((run) => (run.completed_at ?? Number.POSITIVE_INFINITY) - minuteOf(run));
      const timesOf = (probe: (typeof probes)[number]) => phases.flatMap(({ times }) => times[probe]);
      const p99 = Object.fromEntries(probes.map((probe) => [probe, percentile(timesOf(probe), 0.99)]));
      return { name, p99: { ...p99, ...(late.length > 0 ? { schedule: Math.max(...late) } : {}) } };
    });
  }
}
