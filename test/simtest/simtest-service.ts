import { expect, vi } from 'vitest';
import { newOrganization, type Client, type NewOrganization } from '../support/organization.ts';
import { newAgent, simpleAgent } from './sessions.ts';

/** An organization with two agents, whom the scripted model tells apart. */
export async function testingOrganization(options: NewOrganization = {}) {
  const organization = await newOrganization(options);
  const actor = await newAgent(organization.id, { definition: simpleAgent('You are the actor.') });
  const adversary = await newAgent(organization.id, { definition: simpleAgent('You are the adversary.', { greeting: 'Hello there.' }) });
  return { ...organization, actor, adversary, pairing: { actor_workflow_id: actor, adversary_workflow_id: adversary } };
}

export type Testing = Awaited<ReturnType<typeof testingOrganization>>;

/** Creates a session; answers its record. */
export async function newTestSession({ client, pairing }: Testing, config: object = {}, more: object = {}): Promise<any> {
  const created = await client.post('/simtest/test-sessions', { name: 'Talk', ...pairing, config, ...more });
  expect(created.status, JSON.stringify(created.body)).toBe(200);
  return created.body;
}

/** Creates a load test; answers what that answered. */
export async function startedLoadTest({ client, pairing }: Testing, more: object = {}): Promise<any> {
  const created = await client.post('/simtest/load-tests', { name: 'Load', ...pairing, test_count: 3, config: { max_turns: 2 }, ...more });
  expect(created.status, JSON.stringify(created.body)).toBe(200);
  return created.body;
}

/** The session's record, once it is in a status. */
export const sessionIn = (client: Client, id: number, status: string): Promise<any> =>
  vi.waitFor(
    async () => {
      const { body } = await client.get(`/simtest/test-sessions/${id}`);
      expect(body.status, JSON.stringify(body)).toBe(status);
      return body;
    },
    { timeout: 15_000, interval: 20 },
  );

/** The statistics, once the load test is in a status and none of its sessions is left. */
export const statisticsIn = (client: Client, id: number, status: string): Promise<any> =>
  vi.waitFor(
    async () => {
      const { body } = await client.get(`/simtest/load-tests/${id}/stats`);
      expect(body, JSON.stringify({ ...body, sessions: [] })).toMatchObject({ status, pending: 0, running: 0 });
      return body;
    },
    { timeout: 20_000, interval: 20 },
  );
