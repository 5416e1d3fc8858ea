import type { Context } from '../../context.ts';
import { conflict, notFound } from '../../library/errors.ts';
import { type AgentRow, type AgentWithDefinition, findAgent, findAgentsWithDefinition, findAgentWithDefinition } from './store.ts';

export type { AgentRow, AgentWithDefinition } from './store.ts';

/** Finds an agent without its definition. Throws 404. */
export async function existingAgent(context: Context, id: number): Promise<AgentRow> {
  const row = await findAgent(context.database, context.organization.id, id);
  if (!row) throw notFound('Voice agent');
  return row;
}

/** Finds an agent with its definition. Throws 404. */
export async function existingAgentWithDefinition(context: Context, id: number): Promise<AgentWithDefinition> {
  const row = await findAgentWithDefinition(context.database, context.organization.id, id);
  if (!row) throw notFound('Voice agent');
  return row;
}

/** Loads the organization's agents among `ids`, by id. One D1 call. */
export async function loadAgentsWithDefinition(
  { database, organization }: Context,
  ids: number[],
): Promise<Map<number, AgentWithDefinition>> {
  const rows = await findAgentsWithDefinition(database, organization.id, [...new Set(ids)]);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Throws 409: an archived agent takes no calls. */
export function requireActive({ id, status }: Pick<AgentRow, 'id' | 'status'>): void {
  if (status === 'active') return;
  throw conflict(`Voice agent ${id} is archived and takes no calls; PUT /workflow/${id}/status with "active" restores it`);
}

/** Which of these voice agents exist in the organization and are active. One D1 call. */
export async function findActiveAgentIds({ database, organization }: Context, ids: number[]): Promise<Set<number>> {
  const rows = await database.all(
    database.prepare<{ id: number }>(
      `SELECT a.id FROM json_each(?) j CROSS JOIN voice_agent a WHERE a.id = j.value AND a.organization_id = ? AND a.status = 'active'`,
      JSON.stringify(ids),
      organization.id,
    ),
  );
  return new Set(rows.map((row) => row.id));
}
