import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import { randomToken, sha256Hex } from '../../src/library/security/hash.ts';
import { Client, newOrganization, type Answer } from '../support/organization.ts';

const app = createApp();

/** A way into the service with some bindings or variables changed. */
export function serviceWith(changes: Record<string, unknown>): (request: Request) => Promise<Response> {
  const bindings = { ...env, ...changes } as Env;
  return async (request) => app.fetch(request, bindings, createExecutionContext());
}

export const origin = 'https://service.test';
export const anonymous = new Client(undefined);

/** Calls with a session's token as bearer. */
export const asBearer = (token: string) => headersOf({ Authorization: `Bearer ${token}` });
/** Calls as a browser does that keeps the session's cookie. */
export const asBrowser = (token: string) => headersOf({ Cookie: `other=1; session=${token}` });

function headersOf(headers: Record<string, string>) {
  return {
    get: (path: string, more?: Record<string, string>) => anonymous.get(path, { ...headers, ...more }),
    post: (path: string, body?: unknown, more?: Record<string, string>) => anonymous.post(path, body, { ...headers, ...more }),
    patch: (path: string, body?: unknown, more?: Record<string, string>) => anonymous.patch(path, body, { ...headers, ...more }),
    delete: (path: string, more?: Record<string, string>) => anonymous.delete(path, { ...headers, ...more }),
  };
}

let serial = 0;
export const newEmail = () => `person-${Date.now().toString(36)}-${serial++}@example.com`;
export const password = 'correct horse battery';

/** Signs a new user up; the answer holds the token. */
export async function signUp(more: Record<string, unknown> = {}): Promise<Answer & { email: string }> {
  const email = newEmail();
  return { email, ...(await anonymous.post('/auth/signup', { email, password, ...more })) };
}

/** A user with a session, without the tenth of a second that hashing a password takes. */
export async function newUser(): Promise<{ userId: number; token: string }> {
  const created = await env.DB.prepare(`INSERT INTO user (email, password_hash, created_at) VALUES (?, 'none', ?) RETURNING id`)
    .bind(newEmail(), Date.now())
    .first<{ id: number }>();
  return { userId: created!.id, token: await newSession(created!.id, null) };
}

/** A session of a user; it ends after an hour. */
export async function newSession(userId: number, organizationId: number | null): Promise<string> {
  const token = `vas_${randomToken(32)}`;
  await env.DB.prepare('INSERT INTO session (token_hash, user_id, organization_id, created_at, expires_at) VALUES (?, ?, ?, ?, ?)')
    .bind(sha256Hex(token), userId, organizationId, Date.now(), Date.now() + 3_600_000)
    .run();
  return token;
}

/** A user with a session in an organization of their own. */
export async function newMember(): Promise<{ organizationId: number; userId: number; token: string }> {
  const { id, userId } = await newOrganization();
  return { organizationId: id, userId, token: await newSession(userId, id) };
}

/** The lines that `work` logs. */
export async function linesLoggedBy(work: () => Promise<unknown>): Promise<string[]> {
  const lines: string[] = [];
  const spies = (['log', 'info', 'warn', 'error', 'debug'] as const).map((level) =>
    vi.spyOn(console, level).mockImplementation((...parts: unknown[]) => void lines.push(parts.map(String).join(' '))),
  );
  try {
    await work();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return lines;
}
