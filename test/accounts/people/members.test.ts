import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { consumePasswordReset, findPasswordReset, removeMember } from '../../../src/accounts/members/store.ts';
import { catalog } from '../../../src/database/shards.ts';
import { sha256Hex } from '../../../src/library/security/hash.ts';
import { anonymous } from '../../http/service.ts';
import { Client, newOrganization } from '../../support/organization.ts';
import { recordedClient } from '../../support/recorded-database.ts';
import { newPerson, newTeam, roleOf, type Person } from '../../support/people.ts';

describe('the list of members', () => {
  test('has each person with their role', async () => {
    const { viewer, owner, admin, operator } = await newTeam();
    const { body } = await viewer.client.get('/organizations/members');
    expect(Object.fromEntries(body.members.map((one: any) => [one.user_id, one.role]))).toEqual({
      [owner.userId]: 'owner',
      [admin.userId]: 'admin',
      [operator.userId]: 'operator',
      [viewer.userId]: 'viewer',
    });
  });
});

describe('a change of role', () => {
  test('counts at the next request of a session', async () => {
    const { admin, viewer } = await newTeam();
    expect((await viewer.client.post('/contacts', { email: 'a@example.com' })).status).toBe(403);
    const changed = await admin.client.patch(`/organizations/members/${viewer.userId}`, { role: 'operator' });
    expect(changed.body.members).toContainEqual(expect.objectContaining({ user_id: viewer.userId, role: 'operator' }));
    expect((await viewer.client.post('/contacts', { email: 'a@example.com' })).status).toBe(201);
  });

  test('gives nobody a role above that of whoever changes it, and takes none from somebody above', async () => {
    const { id, admin, owner, operator } = await newTeam();
    for (const [userId, role] of [
      [operator.userId, 'owner'],
      [admin.userId, 'owner'],
      [owner.userId, 'viewer'],
    ] as const)
      expect(await admin.client.patch(`/organizations/members/${userId}`, { role })).toMatchObject({
        status: 403,
        body: { detail: expect.stringMatching(/^insufficient_scope: an admin cannot/) },
      });
    expect(await roleOf(id, owner.userId)).toBe('owner');
    expect((await owner.client.patch(`/organizations/members/${admin.userId}`, { role: 'owner' })).status).toBe(200);
    expect((await admin.client.patch(`/organizations/members/${owner.userId}`, { role: 'viewer' })).status).toBe(200);
  });

  test('leaves the organization with an owner, also when two of them step down at once', async () => {
    const { id, owner, admin } = await newTeam();
    expect(await owner.client.patch(`/organizations/members/${owner.userId}`, { role: 'admin' })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('no owner') },
    });
    await owner.client.patch(`/organizations/members/${admin.userId}`, { role: 'owner' });
    const answers = await Promise.all(
      [owner, admin].map(({ client, userId }) => client.patch(`/organizations/members/${userId}`, { role: 'viewer' })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect([await roleOf(id, owner.userId), await roleOf(id, admin.userId)].toSorted()).toEqual(['owner', 'viewer']);
  });

  test('needs a known role and a member of this organization', async () => {
    const { owner } = await newTeam();
    const { userId: stranger } = await newOrganization();
    expect(await owner.client.patch(`/organizations/members/${owner.userId}`, { role: 'king' })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'role'] }] },
    });
    expect((await owner.client.patch(`/organizations/members/${stranger}`, { role: 'viewer' })).status).toBe(404);
  });
});

describe('the ownership', () => {
  test('goes to another member, and the owner of before is an admin', async () => {
    const { id, owner, operator } = await newTeam();
    expect((await owner.client.post('/organizations/ownership', { user_id: operator.userId })).status).toBe(200);
    expect([await roleOf(id, operator.userId), await roleOf(id, owner.userId)]).toEqual(['owner', 'admin']);
    expect((await owner.client.post('/organizations/ownership', { user_id: operator.userId })).status).toBe(403);
  });

  test('goes to no stranger and not to oneself', async () => {
    const { id, owner } = await newTeam();
    const { userId: stranger } = await newOrganization();
    expect((await owner.client.post('/organizations/ownership', { user_id: stranger })).status).toBe(404);
    expect((await owner.client.post('/organizations/ownership', { user_id: owner.userId })).status).toBe(422);
    expect(await roleOf(id, owner.userId)).toBe('owner');
  });
});

describe('whoever leaves', () => {
  test('keeps the account, and loses sessions in the organization and keys of it', async () => {
    const { admin, owner } = await newTeam();
    const { body: key } = await admin.client.post('/user/api-keys', { name: 'Mine' });
    expect((await admin.client.post('/organizations/leave')).body).toEqual({ status: 'deleted' });
    expect((await admin.client.get('/contacts')).status).toBe(401);
    const { body } = await owner.client.get('/user/api-keys?status=archived');
    expect(body.api_keys.map((one: any) => one.id)).toContain(key.id);
    expect((await owner.client.get('/organizations/members')).body.members.map((one: any) => one.user_id)).not.toContain(admin.userId);
  });

  test('is not the only owner', async () => {
    const { id, owner } = await newTeam();
    expect(await owner.client.post('/organizations/leave')).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('/organizations/ownership') },
    });
    expect(await roleOf(id, owner.userId)).toBe('owner');
  });

  test('has a session: a key leaves nothing', async () => {
    const { client } = await newOrganization();
    expect((await client.post('/organizations/leave')).status).toBe(400);
  });
});

describe('an admin', () => {
  test('removes members up to the own role, and no owner', async () => {
    const { id, admin, owner, viewer } = await newTeam();
    expect((await admin.client.delete(`/organizations/members/${owner.userId}`)).status).toBe(403);
    expect((await admin.client.delete(`/organizations/members/${viewer.userId}`)).status).toBe(200);
    expect((await viewer.client.get('/contacts')).status).toBe(401);
    expect(await roleOf(id, viewer.userId)).toBeNull();
  });

  test('resets the password of nobody above', async () => {
    const { admin, owner, operator } = await newTeam();
    expect((await admin.client.post(`/organizations/members/${owner.userId}/password-reset`)).status).toBe(403);
    const { status, body } = await admin.client.post(`/organizations/members/${operator.userId}/password-reset`);
    expect([status, body.url]).toEqual([200, expect.stringMatching(new RegExp(`/docs/people#password-reset=${body.token}$`))]);
  });

  test('ends the sessions of a member at once, those in other organizations left alone', async () => {
    const { admin, operator, owner } = await newTeam();
    const elsewhere = await newOrganization();
    const other = await newPerson(elsewhere.id, 'viewer');
    expect((await admin.client.delete(`/organizations/members/${operator.userId}/sessions`)).body).toEqual({ ended: 1 });
    expect((await operator.client.get('/contacts')).status).toBe(401);
    expect((await admin.client.delete(`/organizations/members/${owner.userId}/sessions`)).status).toBe(403);
    expect((await admin.client.delete(`/organizations/members/${other.userId}/sessions`)).status).toBe(404);
    expect((await other.client.get('/contacts')).status).toBe(200);
  });
});

describe('a link by which a member chooses a new password', () => {
  const offer = async (maker: Person, userId: number): Promise<string> => {
    const { status, body } = await maker.client.post(`/organizations/members/${userId}/password-reset`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.token;
  };
  const use = async (token: string) =>
    (await anonymous.post('/auth/password/reset', { token, new_password: 'lanterns over a quiet harbour' })).status;

  test('works for a member whose role is up to that of its maker', async () => {
    const { owner, admin, operator } = await newTeam();
    expect(await use(await offer(admin, operator.userId))).toBe(200);
    expect(await use(await offer(owner, admin.userId))).toBe(200);
  });

  test('ends when the member rises above its maker', async () => {
    const { id, owner, admin } = await newTeam();
    const fellow = await newPerson(id, 'admin');
    const token = await offer(admin, fellow.userId);
    await owner.client.patch(`/organizations/members/${fellow.userId}`, { role: 'owner' });
    expect(await use(token)).toBe(401);
    expect((await fellow.client.get('/contacts')).status).toBe(200);
  });

  test('ends when its maker is no admin any more', async () => {
    const { owner, admin, viewer } = await newTeam();
    const token = await offer(admin, viewer.userId);
    await owner.client.patch(`/organizations/members/${admin.userId}`, { role: 'operator' });
    expect(await use(token)).toBe(401);
  });

  test.each(['removed', 'gone'])('ends when its maker is %s, and stays ended when they return', async (how) => {
    const { id, owner, admin, operator } = await newTeam();
    const token = await offer(admin, operator.userId);
    if (how === 'removed') await owner.client.delete(`/organizations/members/${admin.userId}`);
    else await admin.client.post('/organizations/leave');
    expect(await use(token)).toBe(401);
    await env.DB.prepare("INSERT INTO membership (user_id, organization_id, created_at, role) VALUES (?, ?, 1, 'admin')")
      .bind(admin.userId, id)
      .run();
    expect(await use(token)).toBe(401);
  });

  test('is judged at the moment at which it is used, not only when it is looked up', async () => {
    const { owner, admin, operator } = await newTeam();
    const token = await offer(admin, operator.userId);
    const used = catalog(env);
    const found = await findPasswordReset(used, sha256Hex(token), Date.now());
    expect(found?.user.id).toBe(operator.userId);
    await owner.client.patch(`/organizations/members/${operator.userId}`, { role: 'owner' });
    const reset = { tokenHash: sha256Hex(token), userId: operator.userId, passwordHash: 'another', now: Date.now() };
    expect(await consumePasswordReset(used, reset)).toBe(false);
  });
});

describe('a removal of a member', () => {
  test('removes nobody who became an owner after the caller was compared with them', async () => {
    const { id, key, owner, admin } = await newTeam();
    const fellow = await newPerson(id, 'admin');
    const promote = async (sql: string[]) => {
      if (!sql.some((one) => one.startsWith('DELETE FROM membership'))) return;
      await owner.client.patch(`/organizations/members/${fellow.userId}`, { role: 'owner' });
    };
    const { body } = await admin.client.post('/user/api-keys', { name: 'Mine', scopes: ['admin'] });
    const { client } = recordedClient(body.api_key, { beforeCall: promote });
    expect(await client.delete(`/organizations/members/${fellow.userId}`)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('owner meanwhile') },
    });
    expect(await roleOf(id, fellow.userId)).toBe('owner');
    expect((await new Client(key).delete(`/organizations/members/${fellow.userId}`)).status).toBe(200);
  });

  test('of nobody removes nobody', async () => {
    const { id, viewer, operator } = await newTeam();
    const removal = { organizationId: id, keepsAccount: false };
    expect(await removeMember(catalog(env), { ...removal, userId: operator.userId, role: 'viewer' }, Date.now())).toBe(false);
    expect(await removeMember(catalog(env), { ...removal, userId: viewer.userId, role: 'viewer' }, Date.now())).toBe(true);
    expect(await removeMember(catalog(env), { ...removal, userId: viewer.userId, role: 'viewer' }, Date.now())).toBe(false);
    expect([await roleOf(id, operator.userId), await roleOf(id, viewer.userId)]).toEqual(['operator', null]);
  });

  test('deletes with the account each link to a new password, those that came by mail, too', async () => {
    const { id, admin, operator, viewer } = await newTeam();
    const elsewhere = await newOrganization();
    await env.DB.prepare('INSERT INTO membership (user_id, organization_id, created_at) VALUES (?, ?, 1)')
      .bind(viewer.userId, elsewhere.id)
      .run();
    const links = [operator, viewer].map(({ userId }) =>
      env.DB.prepare('INSERT INTO password_reset VALUES (?1, ?2, 0, ?1, ?3, ?3 + 3600000)').bind(userId, `mailed-${userId}`, Date.now()),
    );
    await env.DB.batch(links);
    for (const { userId } of [operator, viewer]) expect((await admin.client.delete(`/organizations/members/${userId}`)).status).toBe(200);
    const left = async ({ userId }: Person) =>
      (await env.DB.prepare('SELECT 1 FROM password_reset WHERE user_id = ?').bind(userId).all()).results.length;
    // The account of a member of another organization stays, and its link with it.
    expect([await left(operator), await left(viewer)]).toEqual([0, 1]);
    expect(id).toBeGreaterThan(0);
  });
});
