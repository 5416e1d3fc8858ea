import { env } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import type { CallResult } from '../../src/calls/records/call-result.ts';
import type { CallsRequest } from '../../src/calls/contract.ts';
import { runStub } from './journeys.ts';
import { validDefinition } from './agent-definitions.ts';
import { newOrganization, type Client, type NewOrganization } from './organization.ts';
import { ownRows } from './own-rows.ts';

/** An organization with a voice agent and a carrier, written as rows: nothing here is about making them. */
export async function organizationWithAgent(options: NewOrganization = {}) {
  const organization = await newOrganization(options);
  const agentId = await newAgent(organization.id);
  await newTelephony(organization.id);
  return { ...organization, agentId };
}

export async function newAgent(
  organizationId: number,
  status: 'active' | 'archived' = 'active',
  definition: object = validDefinition,
): Promise<number> {
  const now = Date.now();
  const agent = await ownRows
    .prepare(
      `INSERT INTO voice_agent (organization_id, name, status, current_definition_id, template_context_variables, call_disposition_codes,
       workflow_configurations, created_at, updated_at) VALUES (?, 'Greeter', ?, 0, '{}', '{}', '{}', ?, ?) RETURNING id`,
    )
    .bind(organizationId, status, now, now)
    .first<{ id: number }>();
  await ownRows.batch([
    ownRows
      .prepare(`INSERT INTO voice_agent_definition (organization_id, agent_id, definition, created_at) VALUES (?, ?, ?, ?)`)
      .bind(organizationId, agent!.id, JSON.stringify(definition), now),
    ownRows.prepare('UPDATE voice_agent SET current_definition_id = last_insert_rowid() WHERE id = ?').bind(agent!.id),
  ]);
  return agent!.id;
}

const newTelephony = (organizationId: number) =>
  ownRows
    .prepare(
      `INSERT INTO telephony_config (organization_id, name, provider, credentials, from_numbers, is_default, calls_per_second, machine_detection,
       callback_origin, created_at, updated_at) VALUES (?, 'Main', 'twilio', '{}', '["+12125550100"]', 1, 1, 1, '', ?, ?)`,
    )
    .bind(organizationId, Date.now(), Date.now())
    .run();

/**
 * Replaces the call slots by a stub that records an organization's requests; requests of other organizations may come from objects of earlier tests.
 */
export function stubCallSlots(organizationId: number) {
  const requests: CallsRequest[] = [];
  const withdrawn: string[] = [];
  const slots = {
    request: async (organization: number, request: CallsRequest) => {
      if (organization === organizationId) requests.push(request);
      return { queued: 1, known: 0, isStale: false };
    },
    withdrawCalls: async (organization: number, keys: string[]) => void (organization === organizationId && withdrawn.push(...keys)),
  };
  vi.spyOn(env.CALL_SLOTS, 'getByName').mockReturnValue(slots as unknown as ReturnType<typeof env.CALL_SLOTS.getByName>);
  return {
    requests,
    withdrawn,
    /** The keys of the requested calls, without repetitions. */
    keys: () => [...new Set(requests.flatMap(({ calls }) => calls.map(({ key }) => key)))],
  };
}

export interface CallRow {
  id: number;
  attempt_key: string;
  automation_run_id: number;
  contact_id: number | null;
  phone: string;
  agent_id: number;
  initial_context: string;
}

export const readCallRows = async (organizationId: number): Promise<CallRow[]> =>
  (await ownRows.prepare('SELECT * FROM voice_agent_run WHERE organization_id = ? ORDER BY id').bind(organizationId).all<CallRow>())
    .results;

/** The row of the n-th call of an organization, once it is there. */
export const waitForCallRow = (organizationId: number, n = 1): Promise<CallRow> =>
  vi.waitFor(
    async () => {
      const rows = await readCallRows(organizationId);
      expect(rows.length).toBeGreaterThanOrEqual(n);
      return rows[n - 1]!;
    },
    { timeout: 10_000, interval: 10 },
  );

/** Completes a call's row, as slots or the call itself do when all of it is over. */
export async function completeCall(callRunId: number, result: Partial<CallResult> = {}): Promise<void> {
  const stored = {
    gathered_context: {
      extracted_variables: result.extracted_variables ?? {},
      ...(result.returned && { returned: result.returned, returned_until: result.returned_until ?? null }),
    },
    cost_info: { call_duration_seconds: result.duration_seconds ?? 0 },
    annotations: { summary: result.summary ?? null },
  };
  await ownRows
    .prepare(
      'UPDATE voice_agent_run SET is_completed = 1, outcome = ?, reason = ?, disposition = ?, result = ?, completed_at = ? WHERE id = ?',
    )
    .bind(result.outcome ?? 'completed', result.reason ?? null, result.disposition ?? null, JSON.stringify(stored), Date.now(), callRunId)
    .run();
}

/** Completes a call and tells the run that may wait for it. */
export async function completeCallAndNotify(organizationId: number, call: CallRow, result: Partial<CallResult> = {}): Promise<void> {
  await completeCall(call.id, result);
  await runStub(organizationId, call.automation_run_id).callSettled(call.id);
}

/** The same without the edge of a failed call, so that one fails the run. */
export function callingJourneyWithoutErrorEdge(data: Parameters<typeof callingJourney>[0]) {
  const { nodes, edges } = callingJourney(data);
  const isKept = ({ id }: { id?: string }) => id !== 'error';
  return { nodes: nodes.filter(isKept), edges: edges.filter(isKept) };
}

const handles = ['completed', 'no_answer', 'busy', 'voicemail', 'failed', 'default', 'error'];

interface Edge {
  id: string;
  source: string;
  target: string;
  source_handle?: string;
}

/** A journey that makes a call. Each handle leads to an exit that shows the handle and the reason. */
export const callingJourney = (data: { workflow_id: number } & Record<string, unknown>): { nodes: object[]; edges: Edge[] } => ({
  nodes: [
    { id: 'in', type: 'trigger', data: {} },
    { id: 'call', type: 'voice_call', data },
    ...handles.map((handle) => ({ id: handle, type: 'exit', data: { outcome: `${handle} {{ steps.call.reason }}` } })),
  ],
  edges: [
    { id: 'start', source: 'in', target: 'call' },
    ...handles.map((handle) => ({ id: handle, source: 'call', target: handle, source_handle: handle })),
  ],
});

export const executeWorkflow = async (client: Client, workflow: number, input: object = {}): Promise<number> => {
  const { status, body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {}, ...input });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.id;
};

export const readHistory = async (client: Client, run: number): Promise<any[]> =>
  (await client.get(`/automation-workflows/runs/${run}/history`)).body.history;
