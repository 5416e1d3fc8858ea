import { expect, test } from 'vitest';
import { newSession } from '../../http/service.ts';
import { newOrganization } from '../../support/organization.ts';
import { newTeam, sessionClient } from '../../support/people.ts';

test('a person sees the own sessions, ends one of them, and it is refused at once', async () => {
  const { id, operator } = await newTeam();
  const other = sessionClient(await newSession(operator.userId, id));
  const { body } = await operator.client.get('/auth/sessions');
  expect(body.total).toBe(2);
  expect(body.sessions.filter((one: any) => one.is_current)).toHaveLength(1);
  expect(JSON.stringify(body)).not.toContain(operator.token);
  const another = body.sessions.find((one: any) => !one.is_current);
  expect(another).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{16}$/), organization_id: id });
  expect((await operator.client.delete(`/auth/sessions/${another.id}`)).body).toEqual({ status: 'logged_out' });
  expect((await other.get('/contacts')).status).toBe(401);
  expect((await operator.client.get('/contacts')).status).toBe(200);
});

test('nobody ends a session of somebody else, and an id is no wildcard', async () => {
  const { operator, viewer } = await newTeam();
  const [{ id }] = (await operator.client.get('/auth/sessions')).body.sessions;
  expect((await viewer.client.delete(`/auth/sessions/${id}`)).status).toBe(404);
  for (const wrong of ['0', '%25', 'f'.repeat(15), 'zzzzzzzzzzzzzzzz'])
    expect((await operator.client.delete(`/auth/sessions/${wrong}`)).status, wrong).toBe(422);
  expect((await operator.client.get('/contacts')).status).toBe(200);
});

test('a key has no sessions', async () => {
  const { client } = await newOrganization();
  expect((await client.get('/auth/sessions')).status).toBe(400);
});
