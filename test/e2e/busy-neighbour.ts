import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { createReport, createCsv } from '../../bench/documents.ts';
import { projectDirectory } from '../../scripts/local/settings.ts';
import type { KillableService } from './killable-service.ts';
import { Tenant, chainNodes } from './neighbour-tenant.ts';

const connections = 4;
const onEvent = (type: string) => ({ type: 'contact_event', config: { event_types: [type] } });
const everyMinute = { type: 'schedule', config: { cron: '* * * * *', timezone: 'UTC' } };
const schedules = 500;
const members = 4000;

/**
 * What its operator allows it. Where the service is deployed, what an organization does is spread over many machines, and the defaults are
 * made for that; here one thread does everything, so its share is less.
 */
const plan = { runs_per_minute: 120, max_chained_runs: 10, requests_per_10_seconds: 200, unsigned_webhooks_per_10_seconds: 200 };

/** Does one thing at its worst until `until`, a point of time; 4xx and 429 are its own business. */
export type Burden = (until: number) => Promise<void>;

/** As an operator does it. */
async function setPlan({ stateDirectory }: KillableService, organizationId: number, limit: string, value: number): Promise<void> {
  const program = join(projectDirectory, 'scripts/organization.ts');
  await promisify(execFile)(process.execPath, [program, 'set-plan', String(organizationId), limit, String(value)], {
    cwd: projectDirectory,
    env: { ...process.env, STATE_DIR: stateDirectory },
  });
}

/** An organization that does everything it can to hold up the others, as far as its plan lets it. */
export class BusyNeighbour {
  readonly #tenant: Tenant;
  /** The name in the printed report. */
  readonly burdens = new Map<string, Burden>();
  /** The number of answers by status. */
  readonly answers = new Map<number, number>();

  private constructor(tenant: Tenant) {
    this.#tenant = tenant;
  }

  static async create(service: KillableService): Promise<BusyNeighbour> {
    const tenant = await Tenant.create(service);
    const busy = new BusyNeighbour(tenant);
    const burdens: [string, Burden][] = [
      ['chains of journeys that start themselves', await busy.#chains()],
      ['unsigned and wrongly signed webhooks', await busy.#webhooks()],
      [`${schedules} minute schedules and an audience of ${members}`, await busy.#schedules()],
      ['schemas, conditions and templates without end', await busy.#evaluation()],
      ['documents and forms that are hard to read', await busy.#documents()],
      ['large bodies of ill-formed text', await busy.#illFormed()],
    ];
    for (const [name, burden] of burdens) busy.burdens.set(name, burden);
    const { id } = await tenant.get('/organizations/current');
    for (const [limit, value] of Object.entries(plan)) await setPlan(service, id, limit, value);
    return busy;
  }

  async #send(call: { method?: string; path: string; body: unknown; headers?: Record<string, string> }): Promise<void> {
    // No answer is counted as 0: what becomes of its own requests is not what is looked at here.
    const { status } = await this.#tenant.call({ method: 'POST', ...call }).catch(() => ({ status: 0 }));
    this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
  }

  /** Over several connections, each of which sends on once it is answered. */
  async #flood(until: number, send: (number: number) => Promise<void>): Promise<void> {
    let number = 0;
    const connection = async () => {
      while (Date.now() < until) await send(number++);
    };
    await Promise.all(Array.from({ length: connections }, connection));
  }

  async #chains(): Promise<Burden> {
    const tenant = this.#tenant;
    const { id } = await tenant.post('/automation-workflows/', { name: 'Hydra' });
    const again = ['one', 'two', 'three'].map((name) => ({ id: name, type: 'run_workflow', data: { workflow_id: id } }));
    const changed = await tenant.call({ method: 'PATCH', path: `/automation-workflows/${id}`, body: { definition: chainNodes(...again) } });
    if (changed.status !== 200) throw new Error(`the journey that starts itself was answered ${changed.status}`);
    await tenant.setStatus(id, 'active');
    const emits = ['one', 'two', 'three'].map((name) => ({ id: name, type: 'emit_event', data: { event_type: 'echo' } }));
    await tenant.activate({ name: 'Echo', trigger: onEvent('echo'), definition: chainNodes(...emits) });
    return async (until) => {
      while (Date.now() < until) {
        await this.#send({ path: `/automation-workflows/${id}/execute`, body: { context: {} } });
        await this.#send({ path: '/events', body: { event_type: 'echo' } });
        await sleep(1000);
      }
    };
  }

  async #webhooks(): Promise<Burden> {
    const signed = { auth: { type: 'hmac_sha256', header: 'X-Signature', secret: 'a-secret-of-the-sender' } };
    const urls: string[] = [];
    for (const config of [{ auth: { type: 'none' } }, signed])
      urls.push(await this.#tenant.webhookOf(await this.#tenant.activate({ name: 'Hook', trigger: { type: 'webhook', config } })));
    return (until) =>
      this.#flood(until, (number) =>
        this.#send({ path: urls[number % 2]!, body: { number }, headers: { 'X-Signature': `sha256=${'0'.repeat(64)}` } }),
      );
  }

  /** The schedules fire from the first minute on in which they are active, and no more when the burden is over. */
  async #schedules(): Promise<Burden> {
    const tenant = this.#tenant;
    const contacts = Array.from({ length: members }, (_, index) => ({ phone: `+1415${5_550_000 + index}`, first_name: 'Ada' }));
    await tenant.post('/contacts/bulk-upsert', { list_name: 'Everybody', contacts });
    const { lists } = await tenant.get('/contacts/lists');
    const audience = { ...everyMinute, config: { ...everyMinute.config, audience: { list_id: lists[0].id } } };
    const { id } = await tenant.post('/automation-workflows/', { name: 'Minutes', definition: chainNodes(), trigger: audience });
    for (let added = 1; added < schedules; added += 10)
      await Promise.all(
        Array.from({ length: Math.min(10, schedules - added) }, () => tenant.post(`/automation-workflows/${id}/triggers`, everyMinute)),
      );
    return async (until) => {
      await tenant.setStatus(id, 'active');
      await sleep(Math.max(0, until - Date.now()));
      await tenant.setStatus(id, 'paused');
    };
  }

  async #evaluation(): Promise<Burden> {
    const options = Array.from({ length: 1000 }, (_, index) => new Date(index * 86_400_000).toISOString());
    const costly = '{% for i in data.items %}{% assign x = data.items | where_exp: "one", "one.id == i.id" %}{% endfor %}';
    const captured = '{% for i in data.items %}{% capture a %}{{ a }}{{ a }}xxxxxxxxxxxxxxxx{% endcapture %}{% endfor %}';
    const filters = [
      { field: 'data.dates', operator: 'in', value: options },
      ...[costly, captured].map((value) => ({ field: 'data.items', operator: 'contains', value })),
    ];
    for (const filter of filters) {
      const trigger = { type: 'contact_event', config: { event_types: ['weigh'], filter } };
      await this.#tenant.activate({ name: 'Filter', trigger });
    }
    const schema = { properties: { dates: { uniqueItems: true }, items: { items: { properties: { text: { pattern: '(a|a?)+$' } } } } } };
    await this.#tenant.activate({ name: 'Schema', trigger: onEvent('weigh'), context_schema: schema });
    const data = {
      dates: Array.from({ length: 5000 }, (_, index) => new Date(index * 7_200_000).toISOString()),
      items: Array.from({ length: 1500 }, (_, id) => ({ id, text: 'a'.repeat(30) })),
    };
    const body = JSON.stringify({ event_type: 'weigh', data });
    return (until) =>
      this.#flood(until, async () => {
        await this.#send({ path: '/events', body });
        await sleep(250);
      });
  }

  async #documents(): Promise<Burden> {
    const sentences = ['What does the warranty of the shoes cover, and for how long does it last after they were sent?'];
    const form = `a=1&`.repeat(100_000);
    const hook = await this.#tenant.activate({ name: 'Form', trigger: { type: 'webhook', config: { auth: { type: 'none' } } } });
    const url = await this.#tenant.webhookOf(hook);
    const files: [string, string, (number: number) => Uint8Array | string][] = [
      ['ticks.md', 'text/markdown', (number) => `${number}\n${'`a``b```c````'.repeat(20_000)}`],
      ['depth.html', 'text/html', (number) => `${number}${'<div><b>'.repeat(50_000)}`],
      ['report.pdf', 'application/pdf', (number) => createReport(sentences, 400, number)],
      ['orders.csv', 'text/csv', (number) => createCsv(sentences, 1_000_000 + number)],
    ];
    return async (until) => {
      const read = async () => {
        for (let number = 0; Date.now() < until; number++) {
          const [filename, type, make] = files[number % files.length]!;
          await this.#tenant.addDocument(filename, type, make(number)).catch(() => this.answers.set(0, (this.answers.get(0) ?? 0) + 1));
          await sleep(500);
        }
      };
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const post = async () => {
        while (Date.now() < until) {
          await this.#send({ path: url, body: form, headers });
          await sleep(250);
        }
      };
      await Promise.all([read(), post()]);
    };
  }

  async #illFormed(): Promise<Burden> {
    const text = String.raw`\ud800\u0000x`.repeat(15_000);
    const body = `{"event_type": "odd", "data": {"text": "${text}"}}`;
    return (until) =>
      this.#flood(until, async () => {
        await this.#send({ path: '/events', body });
        await sleep(100);
      });
  }
}
