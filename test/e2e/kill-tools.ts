import { expect } from 'vitest';
import type { KillableService } from './killable-service.ts';

const providers = ['chatapp', 'tracker', 'calendar', 'sheet'] as const;
const messy = 'https://docs.google.com/spreadsheets/d/simulated-messy/edit';
/** The number of rows of the seeded sheet. */
const seededRows = 8;

async function call(service: KillableService, method: string, path: string, body?: unknown): Promise<any> {
  const answer = await service.call({ method, path, ...(body !== undefined && { body }) });
  expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBe(200);
  return answer.body;
}

/** Connects every tool that journeys use. The mapping finds no phone numbers in the sheet, so the import creates no contact. */
export async function connectTools(service: KillableService): Promise<void> {
  for (const provider of providers) {
    const connection_params = provider === 'tracker' ? { subdomain: 'acme' } : {};
    const begun = await call(service, 'POST', '/integration/connect', { provider, connection_params });
    await (await fetch(`${begun.redirect_url}?decision=approve`)).text();
    const finalized = { provider, connected_account_id: begun.request_id };
    const { id } = await call(service, 'POST', '/integration/connect/finalize', finalized);
    if (provider !== 'sheet') continue;
    const selection = { sheet_url: messy, contact_list_name: 'Prospects', field_mapping: { phone: 'Notes' } };
    await call(service, 'POST', `/integration/${id}/sheet/select`, selection);
  }
}

/** Of a simulated tool, in the world of the one organization. */
async function tool(service: KillableService, path: string): Promise<any> {
  const answer = await fetch(service.simulators + path, { headers: { authorization: 'Bearer org_1' } });
  const body = await answer.json();
  return answer.status === 200 ? body : null;
}

async function issues(service: KillableService): Promise<string[]> {
  const found: string[] = [];
  for (;;) {
    const issue = await tool(service, `/jira/ex/jira/cloud-of-acme/rest/api/3/issue/OPS-${found.length + 1}`);
    if (issue === null) return found;
    found.push(issue.fields.summary);
  }
}

/**
 * Each order has one issue, one event and one row, and its run knows which. A message that may have been posted was posted again where a
 * person had the run go on, and only there: `unknown` are the ids of these runs.
 */
export async function verifyTools(service: KillableService, orders: any[], unknown: ReadonlySet<number>): Promise<void> {
  const names = orders.map(({ initial_context: given }) => `Order ${given.order}`).toSorted();
  expect((await issues(service)).toSorted()).toEqual(names);
  const { events } = await tool(service, '/googlecalendar/__sim/events?customer=org_1');
  expect(events.map(({ summary }: any) => summary).toSorted()).toEqual(names);
  const range = encodeURIComponent(`'Sheet 1'!A${seededRows + 1}:E1000`);
  const { values } = await tool(service, `/googlesheets/v4/spreadsheets/simulated-messy/values/${range}`);
  expect(values.map(([name]: string[]) => name).toSorted()).toEqual(names);
  const { messages } = await tool(service, '/slack/__sim/messages?customer=org_1');
  const posted = Map.groupBy(messages as any[], ({ text }) => text);
  expect([...posted.keys()].toSorted()).toEqual(names);
  for (const { id, initial_context: given, context } of orders) {
    const name = `Order ${given.order}`;
    const { shout, file, book, enter } = context.steps;
    const found = posted.get(name)!.map(({ ts }) => ts);
    expect(found, name).toContain(shout.ts);
    if (!unknown.has(id)) expect(found, name).toHaveLength(1);
    expect(file, name).toMatchObject({ key: expect.stringMatching(/^OPS-\d+$/), summary: name });
    expect(events.find((event: any) => event.id === book.id)?.summary, name).toBe(name);
    expect(values[enter.row - seededRows - 1]?.[0], name).toBe(name);
  }
}
