import { type Json, parseJson } from '../../library/json/json.ts';
import type { StoredMessage } from '../../voice-agents/conversation/contract.ts';
import type { AgentDefinition } from '../../voice-agents/definition/definition.ts';
import { endCallTool, knowledgeTool } from '../../voice-agents/definition/tool-rules.ts';
import type { SideEvidence } from './evaluate.ts';
import type { CalledTool, Speaker } from '../contract.ts';
import type { Side } from '../dialogue/turn-order.ts';

/** Collects the evidence of one side. `notJudgedReason` is why the language model was not asked to conclude; null: it was asked. */
export function collectEvidence(
  speaker: Speaker,
  { state, messages, events }: Side,
  definition: AgentDefinition,
  notJudgedReason: string | null,
): SideEvidence {
  const conclusion = state?.conclusion ?? null;
  const failure = events.findLast(({ type }) => type === 'conclusion_failed')?.payload['message'];
  const isFailed = conclusion?.disposition === null && failure !== undefined;
  return {
    nodes: (state?.nodesVisited ?? []).map((id) => ({ id, name: definition.talkNodes.get(id)?.data.name || id })),
    tools: messages.flatMap((message) => findCalledTools(speaker, message, definition)),
    disposition: conclusion?.disposition ?? null,
    extracted: state?.extracted ?? {},
    unknownReason: isFailed ? String(failure) : conclusion === null ? notJudgedReason : null,
  };
}

/** The calls of real tools: the model also calls transitions between nodes as tools. */
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
