import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { tickAt } from '../support/background.ts';
import { createApp } from '../../src/app.ts';
import { createActiveWorkflow } from '../support/journeys.ts';
import { Client, newOrganization, newPhone } from '../support/organization.ts';

const app = createApp();

/** Commits, and then the answer of the first batch that matches is lost, as D1 does now and then. */
function losing(match: RegExp): { bindings: Env; lost: () => number } {
  const sqlOf = new WeakMap<object, string>();
  let lost = 0;
  const lose = (sqls: string[]) => {
    if (lost === 0 && sqls.some((sql) => match.test(sql))) {
      lost++;
      throw new Error('D1_ERROR: Network connection lost.');
    }
  };
  const real = env.DB;
  const DB = {
    prepare(sql: string) {
      const statement = real.prepare(sql);
      const bind = statement.bind.bind(statement);
      (statement as any).bind = (...parameters: unknown[]) => {
        const bound = bind(...parameters);
        sqlOf.set(bound, sql);
        const all = bound.all.bind(bound);
        (bound as any).all = async () => {
          const answer = await all();
          lose([sql]);
          return answer;
        };
        return bound;
      };
      return statement;
    },
    async batch(statements: D1PreparedStatement[]) {
      const answer = await real.batch(statements);
      lose(statements.map((one) => sqlOf.get(one) ?? ''));
      return answer;
    },
  } as unknown as D1Database;
  return { bindings: { ...env, DB }, lost: () => lost };
}
const clientOf = (key: string, bindings: Env) => new Client(key, async (request) => app.fetch(request, bindings, createExecutionContext()));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('one POST /events whose D1 answer is lost after the commit is one event and starts one run', async () => {
  const { client, key } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: { type: 'contact_event', config: { event_type: 'ordered' } } });
  const { bindings, lost } = losing(/INSERT INTO event /);
  const answer = await clientOf(key, bindings).post('/events', { event_type: 'ordered', phone: newPhone(), data: { order: 1 } });
  expect(answer.status).toBe(201);
  expect(lost()).toBe(1);
  await tickAt(Date.now() + 60_000);
  await pause(1500);
  const events = (await client.get('/events?event_type=ordered')).body.total;
  const runs = (await client.get(`/automation-workflows/${workflow}/runs`)).body.total;
  expect({ events, runs }).toEqual({ events: 1, runs: 1 });
});

test('one webhook delivery without delivery id whose D1 answer is lost starts one run', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: { type: 'webhook', config: { auth: { type: 'none' } } } });
  const [trigger] = (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers;
  const { bindings, lost } = losing(/INSERT INTO webhook_delivery/);
  const url = new URL(trigger.webhook_url, 'https://service.test');
  const response = await app.fetch(
    new Request(`https://service.test${url.pathname}`, {
      method: 'POST',
      body: '{"a":1}',
      headers: { 'content-type': 'application/json' },
    }),
    bindings,
    createExecutionContext(),
  );
  expect(response.status).toBe(202);
  expect(lost()).toBe(1);
  await tickAt(Date.now() + 60_000);
  await pause(1500);
  expect((await client.get(`/automation-workflows/${workflow}/runs`)).body.total).toBe(1);
});

test('one POST of a workflow, an agent and a contact whose D1 answer is lost is one of each, and says so', async () => {
  const { client, key } = await newOrganization();
  const shown: Record<string, unknown> = {};
  const flow = losing(/INSERT INTO automation_workflow /);
  shown.workflow = (await clientOf(key, flow.bindings).post('/automation-workflows/', { name: 'Once' })).status;
  shown.workflows = (await client.get('/automation-workflows?search=Once')).body.total;
  const contact = losing(/INSERT INTO contact /);
  shown.contact = (await clientOf(key, contact.bindings).post('/contacts', { phone: newPhone() })).status;
  shown.contacts = (await client.get('/contacts')).body.total;
  expect(shown).toEqual({ workflow: 201, workflows: 1, contact: 201, contacts: 1 });
  void vi;
});
