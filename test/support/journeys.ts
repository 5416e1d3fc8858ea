import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import type { AutomationRunObject } from '../../durable-objects/automation-run/automation-run-object.ts';
import type { Client } from './organization.ts';
import { ownRows } from './own-rows.ts';
import { storedRows, storedRun } from './stored-run.ts';

interface Node {
  id: string;
  type: string;
  data?: Record<string, unknown>;
}

/** A graph that goes through `nodes` one after the other, from a trigger to an exit with outcome `done`. */
export function chain(...nodes: Node[]) {
  const all = [{ id: 'in', type: 'trigger' }, ...nodes, { id: 'out', type: 'exit', data: { outcome: 'done' } }];
  return {
    nodes: all.map((node) => ({ data: {}, ...node })),
    edges: all.slice(1).map((node, index) => ({ id: `e${index}`, source: all[index]!.id, target: node.id })),
  };
}

export interface WorkflowOptions {
  definition?: unknown;
  trigger?: unknown;
  settings?: unknown;
  context_schema?: unknown;
}

/** Creates a workflow and activates it; answers its id. */
export async function createActiveWorkflow(client: Client, options: WorkflowOptions): Promise<number> {
  const created = await client.post('/automation-workflows/', { name: 'Journey', definition: chain(), ...options });
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  const active = await client.patch(`/automation-workflows/${created.body.id}`, { status: 'active' });
  expect(active.status, JSON.stringify(active.body)).toBe(200);
  return created.body.id;
}

const endedStates = ['completed', 'failed', 'cancelled'];

/** Waits until the workflow has `count` runs and all have ended; returns them. */
export function waitForEndedRuns(client: Client, workflowId: number, count = 1): Promise<any[]> {
  return vi.waitFor(
    async () => {
      const { body } = await client.get(`/automation-workflows/${workflowId}/runs`);
      expect(body.total).toBe(count);
      for (const run of body.runs) expect(endedStates, JSON.stringify(run)).toContain(run.state);
      return body.runs;
    },
    { timeout: 15_000, interval: 20 },
  );
}

export function waitForRunState(client: Client, runId: number, state: string): Promise<any> {
  return vi.waitFor(
    async () => {
      const { body } = await client.get(`/automation-workflows/runs/${runId}`);
      expect(body.state, JSON.stringify(body.error)).toBe(state);
      return body;
    },
    { timeout: 15_000, interval: 20 },
  );
}

export const runStub = (organizationId: number, runId: number): DurableObjectStub<AutomationRunObject> =>
  env.AUTOMATION_RUN.getByName(`${organizationId}/${runId}`);

/** All that is stored of a run whose object is still there, and of its journey, as one text. */
export async function readEverythingStored(organizationId: number, runId: number): Promise<string> {
  const stored: unknown[] = [];
  for (const table of ['automation_run', 'automation_workflow', 'automation_version'])
    stored.push((await ownRows.prepare(`SELECT * FROM ${table} WHERE organization_id = ?`).bind(organizationId).all()).results);
  await runInDurableObject(runStub(organizationId, runId), (_instance, state) => {
    expect(storedRun(state.storage)).not.toBeNull();
    stored.push(storedRows(state.storage));
  });
  const { objects } = await env.FILES.list({ prefix: `runs/${organizationId}/` });
  for (const { key } of objects) stored.push(await (await env.FILES.get(key))!.text());
  return JSON.stringify(stored);
}
