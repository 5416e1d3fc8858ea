import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import type { Answer, KillableService } from './killable-service.ts';

/** Somebody who is logged in and works by the API alone. */
export class Colleague {
  readonly #service: KillableService;
  readonly #token: string;
  readonly userId: number;

  private constructor(service: KillableService, token: string, userId: number) {
    this.#service = service;
    this.#token = token;
    this.userId = userId;
  }

  /** Accepts the invitation that the organization's key makes. */
  static async invite(service: KillableService, role: string, email: string): Promise<Colleague> {
    const invitation = await service.call({ method: 'POST', path: '/organizations/invitations', body: { role } });
    expect(invitation.status, JSON.stringify(invitation.body)).toBe(200);
    const body = { token: invitation.body.token, email, password: 'lanterns over a quiet harbour', name: role };
    const joined = await service.call({ method: 'POST', path: '/auth/invitations/accept', body, headers: { 'X-API-Key': '' } });
    expect(joined.status, JSON.stringify(joined.body)).toBe(200);
    return new Colleague(service, joined.body.token, joined.body.user.id);
  }

  send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#service.call({ method, path, body, headers: { 'X-API-Key': '', Authorization: `Bearer ${this.#token}`, ...headers } });
  }

  /** The body of a successful answer. */
  async must(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<any> {
    const answer = await this.send(method, path, body, headers);
    expect([200, 201], `${method} ${path}: ${JSON.stringify(answer.body)}`).toContain(answer.status);
    return answer.body;
  }
}

/** A message that an endpoint got. */
export interface ReceivedWebhook {
  id: string;
  /** Whether the endpoint answered that it had it. */
  isAnswered: boolean;
  event: { type: string; timestamp: string; data: Record<string, any> };
}

/** What has come to an endpoint at the simulated receiver, each verified with the endpoint's secret. */
export async function receivedWebhooks(service: KillableService, path: string, secret: string): Promise<ReceivedWebhook[]> {
  const { body } = await service.call({ method: 'GET', path: `${service.simulators}/__sim/requests?provider=receiver&path=${path}` });
  return body.requests.map((request: any) => {
    const event = new Webhook(secret).verify(request.raw_body, request.headers) as ReceivedWebhook['event'];
    return { id: request.headers['webhook-id'], isAnswered: !request.is_faulted, event };
  });
}

/** Has the receiver refuse the next requests at this path. */
export const failReceiver = (service: KillableService, path: string, times: number): Promise<Answer> =>
  service.call({
    method: 'POST',
    path: `${service.simulators}/__sim/faults`,
    body: { provider: 'receiver', match: { method: 'POST', path }, times, status: 503 },
  });

/** What somebody says when called, sentence by sentence. */
export async function scriptPerson(service: KillableService, phone: string, says: string[]): Promise<void> {
  const { status } = await service.call({ method: 'POST', path: `${service.simulators}/twilio/__sim/people`, body: { phone, says } });
  expect(status).toBe(201);
}

/** Reads until something holds of what is read. */
export async function readUntil<T>(what: string, seconds: number, read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (Date.now() > deadline)
      throw new Error(`within ${seconds} s it did not come true that ${what}: ${JSON.stringify(value).slice(0, 2000)}`);
    await sleep(300);
  }
}
