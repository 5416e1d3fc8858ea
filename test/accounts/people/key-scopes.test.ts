import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { isRoleAtLeast, isWithinRole, roles, roleScopes, toKeyScopes } from '../../../src/accounts/authentication/roles.ts';
import { missingScope } from '../../../src/accounts/authentication/scopes.ts';
import type { Scope } from '../../../src/context.ts';
import { operations } from '../../http/operations.ts';
import { Client, newOrganization } from '../../support/organization.ts';
import { newPerson, newTeam, type Person } from '../../support/people.ts';
import { recordedClient } from '../../support/recorded-database.ts';

const keyScopes: Scope[] = ['read', 'operate', 'write', 'admin'];

describe('the scopes of a key', () => {
  test('never cover a call that the role of the person who made it does not', () => {
    const calls = operations.map(({ method, path }) => [method, `/api/v1${path}`] as const);
    fc.assert(
      fc.property(fc.constantFrom(...roles), fc.subarray(keyScopes), fc.constantFrom(...calls), (role, own, [method, path]) => {
        const isAllowed = missingScope(toKeyScopes(own, role), method, path) === null;
        return !isAllowed || missingScope(roleScopes[role], method, path) === null;
      }),
      { numRuns: 2000 },
    );
  });

  test('are its own where they are within the role, and grow with no role but the owner, who is everything', () => {
    fc.assert(
      fc.property(fc.constantFrom(...roles), fc.subarray(keyScopes), (role, own) => {
        const within = own.filter((scope) => isWithinRole(role, scope));
        if (within.length === own.length && role !== 'owner') expect(toKeyScopes(own, role).toSorted()).toEqual(own.toSorted());
      }),
    );
    expect(toKeyScopes(['admin'], 'owner')).toEqual(['admin', 'owner']);
    expect(toKeyScopes(['write'], 'owner')).toEqual(['write']);
    expect(toKeyScopes(['admin'], 'operator')).toEqual(['read', 'operate']);
    expect(toKeyScopes(['write'], 'viewer')).toEqual(['read']);
    expect(toKeyScopes(['read'], 'admin')).toEqual(['read']);
    expect(toKeyScopes(['admin', 'read'], null)).toEqual([]);
  });

  test('and roles are in one order', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...roles),
        fc.constantFrom(...roles),
        (one, other) => isRoleAtLeast(one, other) === roleScopes[other].every((scope) => roleScopes[one].includes(scope)),
      ),
    );
  });
});

describe('a key', () => {
  test('has no more than an admin who makes it: it neither deletes the organization nor names an owner', async () => {
    const { admin, operator } = await newTeam();
    const { body } = await admin.client.post('/user/api-keys', { name: 'All', scopes: ['admin'] });
    const key = new Client(body.api_key);
    expect((await key.get('/audit-log')).status).toBe(200);
    expect(await key.delete('/organizations/current?confirm_name=Test+organization')).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('only an owner') },
    });
    expect((await key.post('/organizations/ownership', { user_id: operator.userId })).status).toBe(403);
    expect((await key.patch(`/organizations/members/${operator.userId}`, { role: 'owner' })).status).toBe(403);
  });

  test('does less within moments when the role of its maker becomes less, and its own again when the role returns', async () => {
    const { id, owner, admin } = await newTeam();
    const { body } = await admin.client.post('/user/api-keys', { name: 'Mine', scopes: ['write'] });
    const key = new Client(body.api_key);
    expect((await key.post('/automation-workflows', { name: 'Mine' })).status).toBe(201);
    await owner.client.patch(`/organizations/members/${admin.userId}`, { role: 'viewer' });
    expect((await key.post('/automation-workflows', { name: 'More' })).status).toBe(403);
    expect((await key.get('/automation-workflows')).status).toBe(200);
    await owner.client.patch(`/organizations/members/${admin.userId}`, { role: 'admin' });
    expect((await key.post('/automation-workflows', { name: 'Again' })).status).toBe(201);
    expect(id).toBeGreaterThan(0);
  });

  test('cannot be made or reactivated by somebody without its scopes', async () => {
    const { operator, viewer } = await newTeam();
    for (const { client } of [operator, viewer])
      expect((await client.post('/user/api-keys', { name: 'Mine', scopes: ['read'] })).status).toBe(403);
    expect((await operator.client.put('/user/api-keys/1/reactivate')).status).toBe(403);
  });
});

const minted = async ({ client }: Person, scopes: Scope[] = ['admin']): Promise<{ id: number; key: Client }> => {
  const { status, body } = await client.post('/user/api-keys', { name: 'Mine', scopes });
  expect(status, JSON.stringify(body)).toBe(200);
  return { id: body.id, key: new Client(body.api_key) };
};
const isOwner = async (key: Client): Promise<boolean> => (await key.get('/auth/me')).body.scopes.includes('owner');

describe('a key of somebody who leaves', () => {
  test('is not made when they leave while it is made', async () => {
    const { id, owner, admin } = await newTeam();
    const { body } = await admin.client.post('/user/api-keys', { name: 'First', scopes: ['admin'] });
    const remove = async (sql: string[]) => {
      if (sql.some((one) => one.startsWith('INSERT INTO api_key'))) await owner.client.delete(`/organizations/members/${admin.userId}`);
    };
    const { client } = recordedClient(body.api_key, { beforeCall: remove });
    expect(await client.post('/user/api-keys', { name: 'Second', scopes: ['admin'] })).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('no member') },
    });
    const live = await env.DB.prepare(
      'SELECT count(*) AS n FROM api_key WHERE organization_id = ? AND created_by = ? AND archived_at IS NULL',
    )
      .bind(id, admin.userId)
      .first();
    expect(live).toEqual({ n: 0 });
  });

  test('is not reactivated when whoever reactivates it leaves meanwhile', async () => {
    const { owner, admin } = await newTeam();
    const { body } = await admin.client.post('/user/api-keys', { name: 'Acting', scopes: ['admin'] });
    const { id, key } = await minted(owner);
    await owner.client.delete(`/user/api-keys/${id}`);
    const remove = async (sql: string[]) => {
      if (sql.some((one) => one.startsWith('UPDATE api_key SET archived_at = NULL')))
        await owner.client.delete(`/organizations/members/${admin.userId}`);
    };
    const { client } = recordedClient(body.api_key, { beforeCall: remove });
    expect((await client.put(`/user/api-keys/${id}/reactivate`)).status).toBe(403);
    expect((await key.get('/contacts')).status).toBe(401);
  });

  test('is that of whoever reactivates it: it does what they may, and ends when they leave', async () => {
    const { id: organizationId, owner, admin } = await newTeam();
    const fellow = await newPerson(organizationId, 'admin');
    const { id, key } = await minted(admin);
    await admin.client.post('/organizations/leave');
    expect((await key.get('/contacts')).status).toBe(401);
    expect(await fellow.client.put(`/user/api-keys/${id}/reactivate`)).toMatchObject({ status: 200, body: { created_by: fellow.userId } });
    expect((await key.get('/audit-log')).status).toBe(200);
    await owner.client.patch(`/organizations/members/${fellow.userId}`, { role: 'viewer' });
    expect([(await key.get('/contacts')).status, (await key.get('/audit-log')).status]).toEqual([200, 403]);
    await owner.client.delete(`/organizations/members/${fellow.userId}`);
    expect((await key.get('/contacts')).status).toBe(401);
  });

  test('does nothing where it was left unrevoked, until it is reactivated', async () => {
    const { id: organizationId, owner, admin } = await newTeam();
    const { id, key } = await minted(admin, ['read']);
    await env.DB.prepare('DELETE FROM membership WHERE user_id = ? AND organization_id = ?').bind(admin.userId, organizationId).run();
    for (const path of ['/contacts', '/auth/me'])
      expect(await key.get(path)).toMatchObject({ status: 401, body: { detail: expect.stringContaining('has left') } });
    expect((await owner.client.put(`/user/api-keys/${id}/reactivate`)).body).toMatchObject({ status: 'active', created_by: owner.userId });
    expect((await key.get('/contacts')).status).toBe(200);
  });

  test('is made no key of an owner: an owner mints another, and an admin may reactivate it', async () => {
    const { owner, admin, id: organizationId } = await newTeam();
    const { id, key } = await minted(admin);
    const fellow = await newPerson(organizationId, 'admin');
    await owner.client.delete(`/organizations/members/${admin.userId}`);
    const answer = await owner.client.put(`/user/api-keys/${id}/reactivate`);
    expect(answer).toMatchObject({ status: 409, body: { detail: expect.stringContaining('mint another') } });
    expect((await key.get('/contacts')).status).toBe(401);
    await fellow.client.put(`/user/api-keys/${id}/reactivate`);
    expect([(await key.get('/audit-log')).status, await isOwner(key)]).toEqual([200, false]);
  });

  test('is made no key of an owner when they leave at the moment at which an owner reactivates it', async () => {
    const { owner, admin } = await newTeam();
    const acting = await owner.client.post('/user/api-keys', { name: 'Acting', scopes: ['admin'] });
    const { id, key } = await minted(admin);
    await owner.client.delete(`/user/api-keys/${id}`);
    const leave = async (sql: string[]) => {
      if (sql.some((one) => one.startsWith('UPDATE api_key SET archived_at = NULL'))) await admin.client.post('/organizations/leave');
    };
    const { client } = recordedClient(acting.body.api_key, { beforeCall: leave });
    expect((await client.put(`/user/api-keys/${id}/reactivate`)).status).toBe(409);
    expect((await key.get('/contacts')).status).toBe(401);
  });
});

describe('a reactivated key', () => {
  test('of an owner is that of the admin who reactivates it, and no owner', async () => {
    const { owner, admin } = await newTeam();
    const { id, key } = await minted(owner);
    expect(await isOwner(key)).toBe(true);
    await admin.client.delete(`/user/api-keys/${id}`);
    expect((await admin.client.put(`/user/api-keys/${id}/reactivate`)).body).toMatchObject({ status: 'active', created_by: admin.userId });
    expect(await isOwner(key)).toBe(false);
    expect((await key.delete('/organizations/current?confirm_name=Test+organization')).status).toBe(403);
  });

  test('of a member whose role is not above stays theirs, and gets nothing of an owner who reactivates it', async () => {
    const { owner, admin } = await newTeam();
    const { id, key } = await minted(admin);
    await owner.client.delete(`/user/api-keys/${id}`);
    expect((await owner.client.put(`/user/api-keys/${id}/reactivate`)).body).toMatchObject({ created_by: admin.userId });
    expect(await isOwner(key)).toBe(false);
    expect((await key.get('/audit-log')).status).toBe(200);
  });

  test('that works already stays as it is, whoever reactivates it', async () => {
    const { owner, admin } = await newTeam();
    const { id, key } = await minted(owner);
    for (let time = 0; time < 2; time++)
      expect((await admin.client.put(`/user/api-keys/${id}/reactivate`)).body).toMatchObject({
        status: 'active',
        created_by: owner.userId,
      });
    expect(await isOwner(key)).toBe(true);
  });

  test('is one of the own organization', async () => {
    const { owner } = await newTeam();
    const { id, key } = await minted(owner);
    await owner.client.delete(`/user/api-keys/${id}`);
    const { client: stranger } = await newOrganization();
    expect((await stranger.put(`/user/api-keys/${id}/reactivate`)).status).toBe(404);
    expect((await key.get('/contacts')).status).toBe(401);
  });
});
