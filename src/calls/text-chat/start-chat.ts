import { randomUUID } from 'node:crypto';
import type { Context } from '../../context.ts';
import { findContacts } from '../../contacts/contacts/find-contacts.ts';
import { storePayload } from '../../database/payload.ts';
import { notFound } from '../../library/errors.ts';
import { type AgentWithDefinition, requireActive } from '../../voice-agents/agents/find-agents.ts';
import { requireSound } from '../../voice-agents/agents/soundness.ts';
import { withCallObject } from '../rpc.ts';
import { resolveRunName } from '../records/idempotent-run.ts';
import { insertAgentRun } from '../records/store.ts';
import { chatIdleMs } from './contract.ts';

export interface StartChatInput {
  contact_id?: number | null | undefined;
  initial_context?: Record<string, unknown> | null | undefined;
  /** Whether HTTP tools are called. If not, they answer that they were not called. */
  live_tools?: boolean | null | undefined;
}

/**
 * Starts a text chat; the agent has greeted when this returns. A repeat under the same Idempotency-Key is the same chat. Throws 404 and
 * 409.
 */
export async function startTextChat(
  context: Context,
  agent: AgentWithDefinition,
  input: StartChatInput,
  idempotencyKey?: string,
): Promise<{ runId: number }> {
  const { bindings, organization } = context;
  const name = await resolveRunName(context, 'chat', { of: `chat:${agent.id}`, input: input, idempotencyKey });
  const id = name.runId ?? (await insertChat(context, agent, input, name.attemptKey));
  const hasLiveTools = input.live_tools === true;
  await withCallObject(bindings, organization.id, id, (object) => object.begin(organization.id, id, { hasLiveTools }));
  return { runId: id };
}

async function insertChat(context: Context, agent: AgentWithDefinition, input: StartChatInput, attemptKey: string): Promise<number> {
  const { bindings, organization, clock } = context;
  requireActive(agent);
  await requireSound(context, agent, ['path', 'workflow_id']);
  const contactId = input.contact_id ?? null;
  if (contactId !== null && !(await findContacts(context, [contactId])).has(contactId)) throw notFound('Contact');
  const initialContext = JSON.stringify(input.initial_context ?? {});
  const run = await insertAgentRun(context, {
    agentId: agent.id,
    definitionId: agent.current_definition_id,
    name: `Chat with ${agent.name}`,
    mode: 'textchat',
    callType: 'inbound',
    attemptKey,
    contactId,
    initialContext: await storePayload(bindings.FILES, () => `${organization.id}/contexts/${randomUUID()}`, initialContext),
    wakeAt: clock() + chatIdleMs,
    startedAt: clock(),
  });
  // The agent was archived after the check.
  if (!run) requireActive({ id: agent.id, status: 'archived' });
  return run!.id;
}
