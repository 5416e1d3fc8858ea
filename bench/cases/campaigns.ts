import { setTimeout as sleep } from 'node:timers/promises';
import { americanNumber } from '../../test/support/american-numbers.ts';
import type { Bench } from '../bench.ts';
import { toOrder } from './exchanges.ts';
import { createPerson } from './people.ts';

/** Who has campaigns call people. */
export type Caller = 'service' | 'recording';

/** What comes of calling somebody, by the last four digits of the number. */
const callOutcomes = { busy: '0001', noAnswer: '0002', hangsUp: '0007', person: '5550' } as const;
export type CallOutcome = keyof typeof callOutcomes;

const heads = ['phone', 'first_name', 'last_name', 'email', 'company', 'city', 'order_id'];

export const phoneOf = (number: number, ending: CallOutcome): string => americanNumber(number, callOutcomes[ending]);

/** A file of so many people, beginning with the person of a number. */
export const toCampaignFile = (from: number, count: number, ending: CallOutcome): string =>
  [heads, ...Array.from({ length: count }, (_, index) => toRow(from + index, ending))].map((cells) => cells.join(',')).join('\r\n');

function toRow(number: number, ending: CallOutcome): string[] {
  const { first_name, last_name, email, company, custom_fields } = createPerson(number);
  return [phoneOf(number, ending), first_name, last_name, email, company, custom_fields.city, toOrder(number)];
}

/** As much of a campaign's record and progress as is read here. */
interface Standing {
  state: string;
  state_reason: string | null;
  total_rows: number;
  processed_rows: number;
}

interface Progress extends Standing {
  waiting: { live: number; organization_live: number } | null;
}

/** A campaign without retries, and with its circuit breaker off. */
export class Campaign {
  readonly #bench: Bench;
  readonly #caller: Caller;
  readonly id: number;

  private constructor(bench: Bench, caller: Caller, id: number) {
    this.#bench = bench;
    this.#caller = caller;
    this.id = id;
  }

  /** A draft over an uploaded file; `configs` are further fields of it. */
  static async draft(bench: Bench, caller: Caller, file: string, maxConcurrency: number, configs: object = {}): Promise<Campaign> {
    const { clients, headers, agents } = bench;
    const post = <Answer>(path: string, body: object) =>
      clients[caller].json<Answer>({ method: 'POST', path: `/api/v1/campaign/${path}`, headers, body: JSON.stringify(body) });
    const { upload_url, source_id } = await post<{ upload_url: string; source_id: string }>('upload-url', { filename: 'people.csv' });
    const { pathname, search } = new URL(upload_url);
    await clients[caller].call({ method: 'PUT', path: pathname + search, headers: { 'content-type': 'text/csv' }, body: file });
    const { id } = await post<{ id: number }>('create', {
      name: 'Deliveries',
      workflow_id: agents[caller],
      source_type: 'csv',
      source_id,
      max_concurrency: maxConcurrency,
      retry_config: { enabled: false },
      circuit_breaker: { enabled: false },
      ...configs,
    });
    return new Campaign(bench, caller, id);
  }

  async act(verb: 'start' | 'pause' | 'resume' | 'cancel'): Promise<void> {
    const { clients, headers } = this.#bench;
    await clients[this.#caller].call({ method: 'POST', path: `/api/v1/campaign/${this.id}/${verb}`, headers, body: '{}' });
  }

  /** Changes fields of a draft or paused campaign. */
  async change(configs: object): Promise<void> {
    const { clients, headers } = this.#bench;
    await clients[this.#caller].call({ method: 'PATCH', path: this.#path(), headers, body: JSON.stringify(configs) });
  }

  read(): Promise<Standing> {
    return this.#get('');
  }

  progress(): Promise<Progress> {
    return this.#get('/progress');
  }

  /** Reads all of an answer, such as the report. */
  async load(path: string): Promise<void> {
    const { clients, headers } = this.#bench;
    await clients[this.#caller].call({ method: 'GET', path: this.#path(path), headers });
  }

  #get<Answer>(path: string): Promise<Answer> {
    const { clients, headers } = this.#bench;
    return clients[this.#caller].json<Answer>({ method: 'GET', path: this.#path(path), headers });
  }

  readonly #path = (rest = ''): string => `/api/v1/campaign/${this.id}${rest}`;

  /** Waits until no call of the organization is live. */
  async untilQuiet(limitMs = 120_000): Promise<void> {
    await waitUntil('no call is live', limitMs, async () => (await this.progress()).waiting?.organization_live === 0);
  }
}

/** Checks repeatedly until the condition holds; throws when that takes too long. */
export async function waitUntil(what: string, limitMs: number, isSo: () => Promise<boolean>, betweenMs = 100): Promise<void> {
  const startedAt = Date.now();
  while (!(await isSo())) {
    if (Date.now() - startedAt > limitMs) throw new Error(`After ${limitMs / 1000} s it is still not so that ${what}`);
    await sleep(betweenMs);
  }
}
