import { parseJson, type Json } from '../../library/json/json.ts';
import type { StoredMessage } from '../../voice-agents/conversation/contract.ts';
import type { AgentDefinition } from '../../voice-agents/definition/definition.ts';
import { endCallTool, knowledgeTool } from '../../voice-agents/definition/tool-name.ts';
import type { SideEvidence } from './evaluate.ts';
import type { CalledTool, Speaker } from '../contract.ts';
import type { Side } from '../dialogue/turn-order.ts';

/** What a side is known to have come to. `cut` tells why nobody was asked for the rest; null: the language model was. */
export function collectEvidence(
  speaker: Speaker,
  { state, messages, events }: Side,
  definition: AgentDefinition,
  cut: string | null,
): SideEvidence {
  const conclusion = state?.conclusion ?? null;
  const failure = events.findLast(({ type }) => type === 'conclusion_failed')?.payload['message'];
  const isFailed = conclusion?.disposition === null && failure !== undefined;
  return {
    nodes: (state?.nodesVisited ?? []).map((id) => ({ id, name: definition.talkNodes.get(id)?.data.name || id })),
    tools: messages.flatMap((message) => findCalledTools(speaker, message, definition)),
    disposition: conclusion?.disposition ?? null,
    extracted: state?.extracted ?? {},
    unknownReason: isFailed ? String(failure) : conclusion === null ? cut : null,
  };
}

/** What leads along an edge is called as a tool, too, and is none. */
function findCalledTools(speaker: Speaker, { nodeId, toolCalls = [] }: StoredMessage, { talkNodes }: AgentDefinition): CalledTool[] {
  const names = new Set([knowledgeTool, endCallTool, ...(talkNodes.get(nodeId)?.data.tools ?? []).map(({ name }) => name)]);
  return toolCalls
    .filter(({ name }) => names.has(name))
    .map(({ name, arguments: text }) => ({ speaker, name, arguments: parseArguments(text) }));
}

function parseArguments(text: string): Json {
  if (text.trim() === '') return {};
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}
