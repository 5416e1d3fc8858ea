import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { isRoleAtLeast, isWithinRole, roles, roleScopes, toKeyScopes } from '../../../src/accounts/authentication/roles.ts';
import { missingScope } from '../../../src/accounts/authentication/scopes.ts';
import type { Scope } from '../../../src/context.ts';
import { operations } from '../../http/operations.ts';
import { Client } from '../../support/organization.ts';
import { newTeam } from '../../support/people.ts';

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
