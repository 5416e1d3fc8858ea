import type { AgentDefinition } from '../definition/definition.ts';
import { knowledgeTool } from '../definition/tool-name.ts';
import type { ToolMock } from './contract.ts';

/** The names of mocks that no tool of the agent has: a typo there would have the tool itself not mocked. */
export function findUnknownMocks({ talkNodes }: AgentDefinition, mocks: readonly ToolMock[]): string[] {
  const names = new Set([knowledgeTool, ...[...talkNodes.values()].flatMap(({ data }) => data.tools.map(({ name }) => name))]);
  return mocks.map(({ name }) => name).filter((name) => !names.has(name));
}
