import type { AgentDefinition } from '../../voice-agents/definition/definition.ts';

/** The agent with a text, which is a template, behind the prompt of each of its nodes. */
export function withPersona(definition: AgentDefinition, persona: string | null): AgentDefinition {
  const text = persona?.trim() ?? '';
  if (text === '') return definition;
  const talkNodes = new Map(
    [...definition.talkNodes].map(([id, node]) => [id, { ...node, data: { ...node.data, prompt: `${node.data.prompt}\n\n${text}` } }]),
  );
  return { ...definition, talkNodes };
}
