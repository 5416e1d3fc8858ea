import type { Context } from '../../context.ts';
import { notFound } from '../../library/errors.ts';
import { existingAgentWithDefinition, type AgentWithDefinition } from '../agents/find-agents.ts';
import { findVersions, type VersionRow } from './store.ts';
import { parseVersion } from './parse-version.ts';

/** A version of an agent. Throws 404. */
export async function requireVersion({ database, organization }: Context, agentId: number, versionId: number): Promise<VersionRow> {
  const version = (await findVersions(database, organization.id, agentId, [versionId])).get(versionId);
  if (!version) throw notFound('Version of the voice agent');
  return version;
}

/** An agent as one of its versions has it; null: as it is now. Throws 404. */
export async function agentAtVersion(context: Context, agentId: number, versionId: number | null): Promise<AgentWithDefinition> {
  const agent = await existingAgentWithDefinition(context, agentId);
  if (versionId === null || versionId === agent.current_definition_id) return agent;
  const content = parseVersion(await requireVersion(context, agentId, versionId));
  const { required_tests } = agent.workflow_configurations;
  return {
    ...agent,
    ...content,
    current_definition_id: versionId,
    workflow_configurations: { ...content.workflow_configurations, ...(required_tests === undefined ? {} : { required_tests }) },
  };
}
