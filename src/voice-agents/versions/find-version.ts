import type { Context } from '../../context.ts';
import { notFound } from '../../library/errors.ts';
import { existingAgentWithDefinition, type AgentWithDefinition } from '../agents/find-agents.ts';
import { findVersions, type VersionRow } from './store.ts';

/** A version of an agent. Throws 404. */
export async function requireVersion({ database, organization }: Context, agentId: number, versionId: number): Promise<VersionRow> {
  const version = (await findVersions(database, organization.id, agentId, [versionId])).get(versionId);
  if (!version) throw notFound('Version of the voice agent');
  return version;
}

/** An agent with the definition of one of its versions; null: with its current one. Throws 404. */
export async function agentAtVersion(context: Context, agentId: number, versionId: number | null): Promise<AgentWithDefinition> {
  const agent = await existingAgentWithDefinition(context, agentId);
  if (versionId === null || versionId === agent.current_definition_id) return agent;
  const { definition } = await requireVersion(context, agentId, versionId);
  return { ...agent, current_definition_id: versionId, workflow_definition: JSON.parse(definition) as Record<string, unknown> };
}
