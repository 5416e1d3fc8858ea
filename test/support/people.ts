import { env } from 'cloudflare:workers';
import type { Role } from '../../src/database/schema/accounts.ts';
import { randomToken } from '../../src/library/security/hash.ts';
import { newSession } from '../http/service.ts';
import { Client, newOrganization } from './organization.ts';

/** A client that calls with a session's token. */
export const sessionClient = (token: string): Client =>
  new Client(undefined, (request) => {
    const headers = new Headers(request.headers);
    headers.set('Authorization', `Bearer ${token}`);
    return sendTo(new Request(request, { headers }));
  });

const sendTo = async (request: Request): Promise<Response> => {
  const { exports } = await import('cloudflare:workers');
  return exports.default.fetch(request);
};

export interface Person {
  userId: number;
  email: string;
  token: string;
  client: Client;
}

/** A further member of an organization, with a session in it. */
export async function newPerson(organizationId: number, role: Role): Promise<Person> {
  const email = `${randomToken(12).toLowerCase()}@example.com`;
  const user = await env.DB.prepare(
    `INSERT INTO user (email, name, password_hash, created_at) VALUES (?, 'Member', 'none', ?) RETURNING id`,
  )
    .bind(email, Date.now())
    .first<{ id: number }>();
  const userId = user!.id;
  await env.DB.prepare('INSERT INTO membership (user_id, organization_id, created_at, role) VALUES (?, ?, ?, ?)')
    .bind(userId, organizationId, Date.now(), role)
    .run();
  const token = await newSession(userId, organizationId);
  return { userId, email, token, client: sessionClient(token) };
}

/** An organization with an owner and one member of each other role. */
export async function newTeam() {
  const organization = await newOrganization();
  const token = await newSession(organization.userId, organization.id);
  const owner: Person = { userId: organization.userId, email: '', token, client: sessionClient(token) };
  const [admin, operator, viewer] = await Promise.all(
    (['admin', 'operator', 'viewer'] as const).map((role) => newPerson(organization.id, role)),
  );
  return { ...organization, owner, admin: admin!, operator: operator!, viewer: viewer! };
}

export const roleOf = async (organizationId: number, userId: number): Promise<Role | null> =>
  (
    await env.DB.prepare('SELECT role FROM membership WHERE organization_id = ? AND user_id = ?')
      .bind(organizationId, userId)
      .first<{ role: Role }>()
  )?.role ?? null;

/** The audit log, newest first. */
export const auditLog = async (client: Client, query = ''): Promise<any[]> => {
  const { status, body } = await client.get(`/audit-log${query}`);
  if (status !== 200) throw new Error(`no audit log: ${status} ${JSON.stringify(body)}`);
  return body.entries;
};
