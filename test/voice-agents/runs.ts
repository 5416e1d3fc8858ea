import { env } from 'cloudflare:workers';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import type { Context } from '../../src/context.ts';
import { insertAgentRun, completeAgentRun, type NewAgentRun, type AgentRunRow, type RunCompletion } from '../../src/calls/records/store.ts';
import { newOrganization, type Client, type NewOrganization } from '../support/organization.ts';
import { salesAgent } from './agents.ts';

/** An organization with an agent, and the context in which the service works for it. */
export async function withAgent(options: NewOrganization = {}) {
  const organization = await newOrganization(options);
  const agent = await newAgent(organization.client);
  return { ...organization, agent, context: await contextOf(organization.id) };
}

export const contextOf = async (organizationId: number): Promise<Context> =>
  (await backgroundContext(env, organizationId, (work) => void work))!;

export async function newAgent(client: Client): Promise<{ id: number; current_definition_id: number }> {
  return (await client.post('/workflow/create/definition', { name: 'Sales', workflow_definition: salesAgent })).body;
}

let attempts = 0;

/** The row of a run of an agent, as those who place calls write it. */
export async function newRun(
  context: Context,
  agent: { id: number; current_definition_id: number },
  more: Partial<NewAgentRun> = {},
): Promise<AgentRunRow> {
  const run = await insertAgentRun(context, {
    agentId: agent.id,
    definitionId: agent.current_definition_id,
    name: 'Sales to +12125550100',
    mode: 'twilio',
    callType: 'outbound',
    attemptKey: `single:0:${attempts++}`,
    phone: '+12125550100',
    initialContext: '{}',
    ...more,
  });
  return run!;
}

export const settlement = (runId: number, more: Partial<RunCompletion> = {}): RunCompletion => ({
  runId,
  outcome: 'completed',
  reason: null,
  disposition: 'interested',
  talkSeconds: 42,
  result: {
    gathered_context: { call_status: 'completed', call_disposition: 'interested', nodes_visited: ['start', 'bye'], day: 'Monday' },
    cost_info: { llm_tokens: { prompt: 10, completion: 5 }, call_duration_seconds: 42, total_cost_usd: 0.01 },
    annotations: { summary: 'They want it', sentiment: 'positive' },
  },
  hasTranscript: true,
  startedAt: 1_700_000_000_000,
  completedAt: 1_700_000_042_000,
  ...more,
});

/** Completes a run; answers whether this call did. */
export async function settle(context: Context, run: RunCompletion): Promise<boolean> {
  const [rows] = await context.database.batch([completeAgentRun(context, run)]);
  return rows!.length === 1;
}
