import { env, exports } from 'cloudflare:workers';
import { getSettings } from '../../src/settings.ts';
import { randomToken, sha256Hex } from '../../src/library/security/hash.ts';

/** What a call answered; `body` is parsed when it is JSON. */
export interface Answer<Body = any> {
  status: number;
  body: Body;
  headers: Headers;
}

type Send = (request: Request) => Promise<Response>;

/** Calls paths below the base path with one organization's key; `send` may be another way into the service. */
export class Client {
  readonly #key: string | undefined;
  readonly #send: Send;

  constructor(key: string | undefined, send: Send = (request) => exports.default.fetch(request)) {
    this.#key = key;
    this.#send = send;
  }

  get = (path: string, headers?: HeadersInit) => this.#call('GET', path, undefined, headers);
  post = (path: string, body?: unknown, headers?: HeadersInit) => this.#call('POST', path, body, headers);
  put = (path: string, body?: unknown, headers?: HeadersInit) => this.#call('PUT', path, body, headers);
  patch = (path: string, body?: unknown, headers?: HeadersInit) => this.#call('PATCH', path, body, headers);
  delete = (path: string, headers?: HeadersInit) => this.#call('DELETE', path, undefined, headers);

  /** A string body is sent as it is. */
  async #call(method: string, path: string, body: unknown, more?: HeadersInit): Promise<Answer> {
    const headers = new Headers(more);
    if (this.#key) headers.set('X-API-Key', this.#key);
    if (body !== undefined && !headers.has('Content-Type')) headers.set('Content-Type', 'application/json');
    const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
    const response = await this.#send(new Request(`https://service.test/api/v1${path}`, { method, headers, body: text }));
    const answer = await response.text();
    return { status: response.status, body: parseBody(answer), headers: response.headers };
  }
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export interface NewOrganization {
  maxContacts?: number;
  maxIntegrations?: number;
  /** Other plan limits, by name. */
  plan?: Record<string, number>;
  defaultCountry?: string;
  timezone?: string;
  scopes?: ('read' | 'operate' | 'write' | 'admin')[];
  /** The number of the database with its rows; that of new organizations by default. */
  shard?: number;
}

/** An organization of the test's own, with a user and an API key (scope admin by default). */
export async function newOrganization(options: NewOrganization = {}): Promise<{ id: number; userId: number; key: string; client: Client }> {
  const now = Date.now();
  const key = `vaa_${randomToken(32)}`;
  const [organization, user] = await env.DB.batch<{ id: number }>([
    env.DB.prepare(
      `INSERT INTO organization (name, default_country, timezone, plan_max_contacts, plan_max_integrations, plan_limits, created_at, shard)
       VALUES ('Test organization', ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
    ).bind(
      options.defaultCountry ?? 'US',
      options.timezone ?? 'UTC',
      options.maxContacts ?? null,
      options.maxIntegrations ?? null,
      options.plan ? JSON.stringify(options.plan) : null,
      now,
      options.shard ?? getSettings(env).FIRST_OPEN_SHARD,
    ),
    env.DB.prepare(`INSERT INTO user (email, name, password_hash, created_at) VALUES (?, 'Tester', 'none', ?) RETURNING id`).bind(
      `${randomToken(12)}@example.com`,
      now,
    ),
  ]);
  const id = organization!.results[0]!.id;
  const userId = user!.results[0]!.id;
  await env.DB.batch([
    env.DB.prepare('INSERT INTO membership (user_id, organization_id, created_at) VALUES (?, ?, ?)').bind(userId, id, now),
    env.DB.prepare(
      `INSERT INTO api_key (organization_id, created_by, name, key_prefix, key_hash, scopes, created_at) VALUES (?, ?, 'test', ?, ?, ?, ?)`,
    ).bind(id, userId, key.slice(0, 8), sha256Hex(key), JSON.stringify(options.scopes ?? ['admin']), now),
  ]);
  return { id, userId, key, client: new Client(key) };
}

let lastPhoneLine = 2_000_000 + Math.floor(Math.random() * 7_000_000);

/** A possible US number that no other call in this run gives. */
export const newPhone = () => `+1212${(lastPhoneLine = lastPhoneLine >= 9_999_999 ? 2_000_000 : lastPhoneLine + 1)}`;
