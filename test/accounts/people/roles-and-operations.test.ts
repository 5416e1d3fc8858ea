import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { roles, roleScopes } from '../../../src/accounts/authentication/roles.ts';
import { anonymous, newSession } from '../../http/service.ts';
import { document, filled, operations } from '../../http/operations.ts';
import { Client, newOrganization, type Answer } from '../../support/organization.ts';
import { newPerson, sessionClient, type Person } from '../../support/people.ts';

const isScopeRefused = ({ status, body }: Answer): boolean => status === 403 && String(body.detail).startsWith('insufficient_scope');

const send = (client: Client, method: string, path: string): Promise<Answer> => {
  if (method === 'GET') return client.get(path);
  if (method === 'DELETE') return client.delete(path);
  const verb = { POST: client.post, PUT: client.put, PATCH: client.patch }[method]!;
  return verb(path, '{"');
};

const guarded = operations.filter(({ details }) => details['security'].length > 0);

describe('the document', () => {
  test('names the roles of each operation that is not open, and at least the owner', () => {
    for (const { method, path, details } of guarded) {
      expect(details['x-roles'], `${method} ${path}`).toContain('owner');
      // Whoever has the greater role may do all that the lesser may.
      const first = roles.indexOf(details['x-roles'][0]);
      expect(details['x-roles']).toEqual(roles.slice(first));
    }
    expect(JSON.stringify(document)).not.toContain('undefined');
  });

  test('lets a viewer change nothing but the own account', () => {
    const changing = guarded.filter(({ method, details }) => method !== 'GET' && details['x-roles'].includes('viewer'));
    expect(changing.map(({ details }) => details['operationId']).toSorted()).toEqual(
      [
        'auth.changePassword',
        'auth.createOrganization',
        'auth.createSignInLink',
        'auth.deleteAccount',
        'auth.endSession',
        'auth.logOut',
        'auth.logOutEverywhere',
        'auth.selectOrganization',
        'campaigns.preview',
        'invitations.join',
        'knowledgeBase.search',
        'members.leave',
        'passkeys.add',
        'passkeys.delete',
        'passkeys.start',
      ].toSorted(),
    );
  });

  test('keeps for owners what ends or gives away the organization', () => {
    const ofOwners = guarded.filter(({ details }) => details['x-roles'].length === 1);
    expect(ofOwners.map(({ details }) => details['operationId']).toSorted()).toEqual(['members.transferOwnership', 'organization.delete']);
  });
});

describe.each(roles)('as the document says, for the role %s:', (role) => {
  test('each operation answers 403 or is allowed', async () => {
    const { id } = await newOrganization({ plan: { requests_per_10_seconds: 100_000 } });
    const wrong: string[] = [];
    let person: Person = await newPerson(id, role);
    for (const { method, path, details } of guarded) {
      // Operations on the own account may end the session, or leave the organization.
      if (/^(auth|members\.leave)/.test(details['operationId'])) person = await newPerson(id, role);
      // A wrong body or a missing record stops what is allowed before it changes anything.
      const answer = await send(person.client, method, filled(path).replace('/auth/sessions/999999999', '/auth/sessions/0123456789abcdef'));
      const isAllowed = details['x-roles'].includes(role);
      if (answer.status === 401 || isScopeRefused(answer) === isAllowed)
        wrong.push(`${details['operationId']}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    expect(wrong).toEqual([]);
  }, 120_000);
});

describe.each(['read', 'operate', 'write', 'admin'] as const)('as the document says, for a key with the scope %s:', (scope) => {
  const covered = {
    read: ['read'],
    operate: ['read', 'operate'],
    write: ['read', 'operate', 'write'],
    admin: ['read', 'operate', 'write', 'admin'],
  };

  test('each operation answers 403 or is allowed', async () => {
    const { client } = await newOrganization({ scopes: [scope], plan: { requests_per_10_seconds: 100_000 } });
    const wrong: string[] = [];
    for (const { method, path, details } of guarded.filter((one) => one.details['x-scope'] !== undefined)) {
      const answer = await send(client, method, filled(path));
      const isAllowed = covered[scope].includes(details['x-scope']);
      // `write` and `operate` alone do not read the keys and the members; `read` does.
      if (/^(apiKeys|members)\.list$/.test(details['operationId']) && ['operate', 'write'].includes(scope)) continue;
      if (answer.status === 401 || isScopeRefused(answer) === isAllowed)
        wrong.push(`${details['operationId']}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    expect(wrong).toEqual([]);
  }, 120_000);
});

test('without credentials every operation that is not open is 401', async () => {
  const open: string[] = [];
  for (const { method, path } of guarded) if ((await send(anonymous, method, filled(path))).status !== 401) open.push(`${method} ${path}`);
  expect(open).toEqual([]);
}, 60_000);

test('a session in an organization that its person has left has none selected', async () => {
  const { id } = await newOrganization();
  const { userId } = await newPerson(id, 'operator');
  const client = sessionClient(await newSession(userId, id));
  await env.DB.prepare('DELETE FROM membership WHERE user_id = ?').bind(userId).run();
  expect(await client.get('/contacts')).toMatchObject({ status: 400, body: { detail: 'No organization selected' } });
  expect((await client.get('/auth/me')).body).toMatchObject({ organization: null, role: null, scopes: [] });
});

test('auth/me tells the role and its scopes', async () => {
  const { id } = await newOrganization();
  for (const role of roles) {
    const { client } = await newPerson(id, role);
    expect((await client.get('/auth/me')).body).toMatchObject({ role, scopes: [...roleScopes[role]] });
  }
});
