import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { readAgent } from '../../scripts/tour/agents.ts';
import { listReceivedRequests } from './kill-evidence.ts';
import { killJourneys, type JourneyName } from './kill-journeys.ts';
import { connectTools } from './kill-tools.ts';
import type { KillableService } from './killable-service.ts';
import { PatientSender } from './patient-sender.ts';
import { shuffled } from './seeded-random.ts';

export const kills = 6;
const [ordersAKill, parcelsAKill, visitsAKill] = [20, 8, 6];
export const gates = 20;

/** How many runs of each journey there must be in the end. */
export const expectedRuns: Record<JourneyName, number> = {
  order: kills * ordersAKill,
  pack: kills * ordersAKill,
  ship: kills * ordersAKill,
  parcel: kills * parcelsAKill,
  visit: kills * visitsAKill,
  gate: gates,
  slow: kills * 2,
};

export const rangeTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const own = (kill: number, count: number): number[] => rangeTo(count).map((index) => kill * count + index);

export const phoneOf = (order: number): string => `+1212${5_550_000 + order}`;
const totalOf = (order: number): number => (order * 37) % 200;
export const sizeOf = (order: number): string => (totalOf(order) >= 100 ? 'large' : 'small');

/** All senders of requests to the service; they repeat each request until it is answered. */
export class KillTraffic {
  readonly sender: PatientSender;
  readonly #service: KillableService;
  readonly #random: () => number;
  readonly #placed = rangeTo(expectedRuns.order).map(() => Promise.withResolvers<void>());
  readonly #paid = new Set<number>();
  readonly workflows = {} as Record<JourneyName, number>;
  #webhook = '';
  /** Ids of events that were answered with 201. */
  readonly acceptedEvents = new Set<number>();

  constructor(service: KillableService, random: () => number) {
    this.#service = service;
    this.#random = random;
    this.sender = new PatientSender(service);
  }

  /** Creates and activates the journeys; the receiver, the messaging provider and the tools take their time, and the receiver answers the first attempt of each visit with 503. */
  async prepare(): Promise<void> {
    const meta = { phone_number_id: '1001', access_token: 'token-of-meta', waba_id: '2002' };
    const configured = {
      method: 'POST',
      path: '/organizations/messaging-config',
      body: { messaging_app: { provider: 'provider_b', provider_b: meta } },
    };
    expect((await this.#service.call(configured)).status).toBe(200);
    await this.#planFault({ provider: 'meta', match: { method: 'POST', path: '/*/1001/messages' }, times: 10_000, delay_ms: 300 });
    await connectTools(this.#service);
    for (const provider of ['slack', 'jira', 'googlecalendar', 'googlesheets'])
      await this.#planFault({ provider, match: { method: 'POST' }, times: 10_000, delay_ms: 150 });
    const { order, ...others } = killJourneys(`${this.#service.simulators}/receiver`);
    for (const [name, journey] of Object.entries(others)) await this.#activate(name as JourneyName, journey);
    const agent = await this.#service.call({ method: 'POST', path: '/workflow/create/definition', body: readAgent('spring-offer') });
    await this.#activate('order', order(this.workflows.pack, agent.body.id));
    this.#webhook = (await this.read(`/automation-workflows/${this.workflows.parcel}/triggers`)).triggers[0].webhook_url;
    for (const node of ['tell', 'charge', 'stow', 'ship', 'drop', 'pass'])
      await this.#planFault({ match: { path: `/${node}/*` }, times: 10_000, delay_ms: 300 });
    for (const visit of rangeTo(expectedRuns.visit))
      await this.#planFault({ match: { path: `/knock/${visit}` }, status: 503, headers: { 'retry-after': '4' } });
  }

  async #activate(name: JourneyName, journey: object): Promise<void> {
    const { body } = await this.#service.call({ method: 'POST', path: '/automation-workflows/', body: journey });
    this.workflows[name] = body.id;
    await this.setStatus(name, 'active');
  }

  async #planFault(fault: object): Promise<void> {
    const path = `${this.#service.simulators}/__sim/faults`;
    const answer = await this.#service.call({ method: 'POST', path, body: { provider: 'receiver', ...fault } });
    expect(answer.status).toBe(201);
  }

  async read(path: string): Promise<any> {
    const { status, body } = await this.sender.send({ method: 'GET', path });
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  }

  async runsOf(name: JourneyName): Promise<any[]> {
    return (await this.read(`/automation-workflows/${this.workflows[name]}/runs?limit=500`)).runs;
  }

  async setStatus(name: JourneyName, status: string): Promise<void> {
    const answer = await this.sender.send({ method: 'PATCH', path: `/automation-workflows/${this.workflows[name]}`, body: { status } });
    expect(answer.body).toMatchObject({ status });
  }

  async #sendEvent(eventType: string, eventId: string, data: object, contact: object = {}): Promise<void> {
    const body = { event_type: eventType, event_id: eventId, data, ...contact };
    const answer = await this.sender.send({ method: 'POST', path: '/events', body });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    this.acceptedEvents.add(answer.body.event_id);
  }

  async #place(order: number): Promise<void> {
    const data = { order, total: totalOf(order), kind: order % 3 ? 'toy' : 'book' };
    await this.#sendEvent('ordered', `ordered-${order}`, data, { phone: phoneOf(order), list_name: 'Prospects' });
    this.#placed[order]!.resolve();
  }

  /** Waits until the order is placed, since a run does not take an event from before its own first event. */
  async #pay(order: number): Promise<void> {
    this.#paid.add(order);
    await this.#placed[order]!.promise;
    await this.#sendEvent('order_paid', `paid-${order}`, { order });
  }

  async payRest(): Promise<void> {
    for (const order of rangeTo(expectedRuns.order)) if (!this.#paid.has(order)) await this.#pay(order);
  }

  async arrive(): Promise<void> {
    for (const gate of rangeTo(gates)) await this.#sendEvent('arrived', `arrived-${gate}`, { gate });
  }

  async #drop(parcel: number): Promise<void> {
    const headers = { 'X-Delivery': `parcel-${parcel}` };
    const answer = await this.sender.send({ method: 'POST', path: this.#webhook, body: { parcel }, headers });
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 202, body: { delivery_id: `parcel-${parcel}` } });
  }

  async #execute(name: JourneyName, number: number, context: object): Promise<void> {
    const path = `/automation-workflows/${this.workflows[name]}/execute`;
    const headers = { 'Idempotency-Key': `${name}-${number}` };
    const answer = await this.sender.send({ method: 'POST', path, body: { context }, headers });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  }

  /**
   * Everything that is sent around one kill, by four senders side by side. A third of the orders is paid at once, a third around
   * the next kill, and a third by `payRest`.
   */
  async sendAround(kill: number): Promise<void> {
    const before = kill === 0 ? [] : own(kill - 1, ordersAKill);
    const orders = own(kill, ordersAKill).map((order) => async () => {
      await this.#place(order);
      if (order % 3 === 0) await this.#pay(order);
    });
    const payments = before.filter((order) => order % 3 === 1).map((order) => () => this.#pay(order));
    const parcels = own(kill, parcelsAKill).map((parcel) => () => this.#drop(parcel));
    const visits = own(kill, visitsAKill).map((visit) => () => this.#execute('visit', visit, { visit }));
    const openings = kill === 1 ? rangeTo(gates).map((gate) => () => this.#sendEvent('opened', `opened-${gate}`, { gate })) : [];
    const tasks = shuffled([...orders, ...payments, ...parcels, ...visits, ...openings], this.#random);
    const work = async () => {
      for (let task = tasks.shift(); task; task = tasks.shift()) {
        await task();
        await sleep(this.#random() * 250);
      }
    };
    await Promise.all(rangeTo(4).map(work));
  }

  /** Has two requests under way that the receiver will not have answered when the kill comes: one that may be repeated, one that may not. */
  async startSlowOnes(kill: number, delayMs = 25_000): Promise<void> {
    const [once, again] = [2 * kill, 2 * kill + 1];
    for (const path of [`/once/${once}`, `/again/${again}`]) await this.#planFault({ match: { path }, delay_ms: delayMs });
    await this.#execute('slow', once, { slow: once, careful: true });
    await this.#execute('slow', again, { slow: again, careful: false });
    await expect
      .poll(async () => (await listReceivedRequests(this.#service)).map(({ node, number }) => `${node}/${number}`), {
        timeout: 15_000,
        interval: 100,
      })
      .toEqual(expect.arrayContaining([`once/${once}`, `again/${again}`]));
  }
}
