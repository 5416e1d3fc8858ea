import type { Context } from '../../context.ts';
import { openSecrets } from '../../expressions/secrets/secrets.ts';
import { invalid, type Issue } from '../../library/errors.ts';
import { parseAgentDefinition, validateAgentDefinition, type AgentDefinition } from '../definition/definition.ts';
import { definitionPath } from '../definition/issues.ts';
import type { AgentWithDefinition } from './store.ts';
import { findStoredIssues } from './prepare-definition.ts';

type JsonObject = Record<string, unknown>;

/** Throws 422 with one item for each problem of the agent's definition: nobody talks by it. `loc` begins with `at`, the field that named the agent. */
export async function requireSound(
  context: Context,
  { id, workflow_definition: stored }: Pick<AgentWithDefinition, 'id' | 'workflow_definition'>,
  at: string[],
): Promise<void> {
  const issues = await findStoredIssues(context, stored);
  if (issues.length === 0) return;
  const told = ({ loc, msg, type }: Issue): Issue => ({
    loc: [...at, ...loc.slice(definitionPath.length)],
    msg: `Voice agent ${id} is not sound: ${msg}`,
    type,
  });
  throw invalid(issues.map(told));
}

/** A definition for those who run it; null: it has problems. That a document it names was deleted is none: the talk goes on without it. */
export const parseSoundDefinition = async (context: Context, stored: JsonObject): Promise<AgentDefinition | null> =>
  (await findDefinitionProblems(context, stored)).length === 0 ? parseAgentDefinition(stored) : null;

/** Why nobody talks by a definition, a sentence; null: it is sound. */
export async function explainUnsound(context: Context, stored: JsonObject, agentId: number): Promise<string | null> {
  const [first, ...others] = await findDefinitionProblems(context, stored);
  if (!first) return null;
  const more = others.length > 0 ? `, and ${others.length} more` : '';
  const place = first.loc.slice(definitionPath.length).join('.') || 'workflow_definition';
  return `The definition of voice agent ${agentId} has problems (${place}: ${first.msg}${more}); POST /workflow/${agentId}/validate tells all of them`;
}

const findDefinitionProblems = async ({ settings, organization }: Context, stored: JsonObject): Promise<Issue[]> =>
  validateAgentDefinition(await openSecrets(settings.ENCRYPTION_KEY, organization.id, stored));

/** What has to be known of a definition before a call is dialled. */
export interface AgentReadiness {
  /** As `explainUnsound`. */
  unsound: string | null;
  /** Whether machine detection is wanted; null: as the telephony configuration has it. */
  detectVoicemail: boolean | null;
}

export async function checkAgentReadiness(context: Context, stored: JsonObject, agentId: number): Promise<AgentReadiness> {
  const unsound = await explainUnsound(context, stored, agentId);
  if (unsound !== null) return { unsound, detectVoicemail: null };
  const { talkNodes, startNodeId } = parseAgentDefinition(stored);
  return { unsound, detectVoicemail: talkNodes.get(startNodeId)!.data.detect_voicemail ?? null };
}
