import type { Context } from '../../context.ts';
import { openSecrets } from '../../expressions/secrets/secrets.ts';
import { invalid, type Issue } from '../../library/errors.ts';
import { maxTransferSeconds, parseAgentDefinition, validateAgentDefinition, type AgentDefinition } from '../definition/definition.ts';
import { definitionPath } from '../definition/issues.ts';
import type { AgentWithDefinition } from './store.ts';
import { findStoredIssues } from './prepare-definition.ts';

type JsonObject = Record<string, unknown>;

/**
 * Throws 422 with an item for each problem of the agent's definition, because no conversation may use it. `loc` begins with `at`, the
 * field that named the agent.
 */
export async function requireSound(
  context: Context,
  { id, workflow_definition: stored }: Pick<AgentWithDefinition, 'id' | 'workflow_definition'>,
  at: string[],
): Promise<void> {
  const issues = await findStoredIssues(context, stored);
  if (issues.length === 0) return;
  const toAgentIssue = ({ loc, msg, type }: Issue): Issue => ({
    loc: [...at, ...loc.slice(definitionPath.length)],
    msg: `Voice agent ${id} is not sound: ${msg}`,
    type,
  });
  throw invalid(issues.map(toAgentIssue));
}

/**
 * Parses a definition for a conversation. Null: the definition has problems. A deleted document is not a problem: the conversation goes on
 * without it.
 */
export const parseSoundDefinition = async (context: Context, stored: JsonObject): Promise<AgentDefinition | null> =>
  (await findDefinitionProblems(context, stored)).length === 0 ? parseAgentDefinition(stored) : null;

/** A sentence with the first problem of a definition; null: there is none. */
export async function explainUnsound(context: Context, stored: JsonObject, agentId: number): Promise<string | null> {
  const [first, ...others] = await findDefinitionProblems(context, stored);
  if (!first) return null;
  const more = others.length > 0 ? `, and ${others.length} more` : '';
  const place = first.loc.slice(definitionPath.length).join('.') || 'workflow_definition';
  return `The definition of voice agent ${agentId} has problems (${place}: ${first.msg}${more}); POST /workflow/${agentId}/validate tells all of them`;
}

const findDefinitionProblems = async ({ settings, organization }: Context, stored: JsonObject): Promise<Issue[]> =>
  validateAgentDefinition(await openSecrets(settings.ENCRYPTION_KEY, organization.id, stored));

/** The properties of a definition that must be known before a call is dialled. */
export interface AgentReadiness {
  /** The sentence of `explainUnsound`, or null. */
  unsound: string | null;
  /** Whether the carrier shall detect answering machines; null: the telephony configuration decides. */
  detectVoicemail: boolean | null;
  /** The most seconds that a call lasts longer because it may be handed to a human. */
  transferSeconds: number;
}

/** Checks the stored definition of an agent before a call. */
export async function checkAgentReadiness(context: Context, stored: JsonObject, agentId: number): Promise<AgentReadiness> {
  const unsound = await explainUnsound(context, stored, agentId);
  if (unsound !== null) return { unsound, detectVoicemail: null, transferSeconds: 0 };
  const definition = parseAgentDefinition(stored);
  const { talkNodes, startNodeId } = definition;
  const detectVoicemail = talkNodes.get(startNodeId)!.data.detect_voicemail ?? null;
  return { unsound, detectVoicemail, transferSeconds: maxTransferSeconds(definition) };
}
