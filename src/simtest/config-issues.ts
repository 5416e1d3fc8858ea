import type { Issue } from '../library/errors.ts';
import { unknownMocks } from '../voice-agents/conversation/tool-mocks.ts';
import type { AgentDefinition } from '../voice-agents/definition/definition.ts';
import { endCallTool, knowledgeTool } from '../voice-agents/definition/tool-name.ts';
import type { TestConfig } from './config.ts';
import type { Speaker } from './contract.ts';

const maximumBytes = 64 * 1024;
const mostNamed = 20;

/**
 * What a config names that its agents do not have: a typo there would have a check that always fails, or a tool that is not mocked. Also what
 * is too large, or there twice. `loc` begins with `at`.
 */
export function configIssues(config: TestConfig, agents: Record<Speaker, AgentDefinition>, at: string[]): Issue[] {
  const { length } = new TextEncoder().encode(JSON.stringify(config));
  if (length > maximumBytes)
    return [issue(at, `A config has at most ${maximumBytes} bytes of JSON, this one ${length}; shorten its contexts or mocks`)];
  return [...mockIssues(config, agents, [...at, 'tool_mocks']), ...checkIssues(config, agents, [...at, 'checks'])];
}

function mockIssues({ tool_mocks: mocks }: TestConfig, agents: Record<Speaker, AgentDefinition>, at: string[]): Issue[] {
  const unknownToAdversary = new Set(unknownMocks(agents.adversary, mocks));
  const unknown = new Set(unknownMocks(agents.actor, mocks).filter((name) => unknownToAdversary.has(name)));
  const known = [...new Set([...toolNames(agents.actor), ...toolNames(agents.adversary), knowledgeTool])];
  return mocks.flatMap(({ name }, index) => {
    const loc = [...at, String(index), 'name'];
    if (unknown.has(name)) return [issue(loc, `Neither agent has a tool "${name}"; there are: ${listed(known)}`)];
    return mocks.findIndex((mock) => mock.name === name) < index ? [issue(loc, `Another mock is of "${name}"; keep one of them`)] : [];
  });
}

const checkIssues = ({ checks }: TestConfig, agents: Record<Speaker, AgentDefinition>, at: string[]): Issue[] =>
  checks.flatMap((check, index) => {
    const loc = [...at, String(index)];
    if (check.type === 'reached_node') {
      const nodes = [...agents[check.speaker].talkNodes.values()].map(({ id, data }) => ({ id, name: data.name || id }));
      if (nodes.some(({ id, name }) => check.node === id || check.node === name)) return [];
      const known = listed(nodes.map(({ name }) => name));
      return [issue([...loc, 'node'], `The ${check.speaker} has no node "${check.node}" to come through; there are: ${known}`)];
    }
    if (check.type === 'tool_called') {
      const known = [...toolNames(agents[check.speaker]), knowledgeTool, endCallTool];
      if (known.includes(check.tool)) return [];
      return [issue([...loc, 'tool'], `The ${check.speaker} has no tool "${check.tool}"; there are: ${listed(known)}`)];
    }
    return [];
  });

const toolNames = ({ talkNodes }: AgentDefinition): string[] => [
  ...new Set([...talkNodes.values()].flatMap(({ data }) => data.tools.map(({ name }) => name))),
];

const listed = (names: string[]): string => `${names.slice(0, mostNamed).join(', ')}${names.length > mostNamed ? ' ...' : ''}`;

const issue = (loc: string[], msg: string): Issue => ({ loc, msg, type: 'value_error' });
