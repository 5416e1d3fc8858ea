import type { Issue } from '../../library/errors.ts';
import { findUnknownMocks } from '../../voice-agents/conversation/tool-offers.ts';
import type { AgentDefinition } from '../../voice-agents/definition/definition.ts';
import { endCallTool, knowledgeTool } from '../../voice-agents/definition/tool-rules.ts';
import type { TestConfig } from './config.ts';
import type { Speaker } from '../contract.ts';

const maxConfigBytes = 64 * 1024;
const maxNamesListed = 20;

/**
 * Finds names in a config that its agents do not have: with a typo, a check would always fail or a tool would not be mocked. Also finds a config
 * that is too large, and two mocks of one tool. `loc` begins with `at`.
 */
export function findConfigIssues(config: TestConfig, agents: Record<Speaker, AgentDefinition>, at: string[]): Issue[] {
  const { length } = new TextEncoder().encode(JSON.stringify(config));
  if (length > maxConfigBytes)
    return [toIssue(at, `A config has at most ${maxConfigBytes} bytes of JSON, this one ${length}; shorten its contexts or mocks`)];
  return [...findMockIssues(config, agents, [...at, 'tool_mocks']), ...findCheckIssues(config, agents, [...at, 'checks'])];
}

function findMockIssues({ tool_mocks: mocks }: TestConfig, agents: Record<Speaker, AgentDefinition>, at: string[]): Issue[] {
  const unknownToAdversary = new Set(findUnknownMocks(agents.adversary, mocks));
  const unknown = new Set(findUnknownMocks(agents.actor, mocks).filter((name) => unknownToAdversary.has(name)));
  const known = [...new Set([...listToolNames(agents.actor), ...listToolNames(agents.adversary), knowledgeTool])];
  return mocks.flatMap(({ name }, index) => {
    const loc = [...at, String(index), 'name'];
    if (unknown.has(name)) return [toIssue(loc, `Neither agent has a tool "${name}"; there are: ${joinNames(known)}`)];
    return mocks.findIndex((mock) => mock.name === name) < index ? [toIssue(loc, `Another mock is of "${name}"; keep one of them`)] : [];
  });
}

const findCheckIssues = ({ checks }: TestConfig, agents: Record<Speaker, AgentDefinition>, at: string[]): Issue[] =>
  checks.flatMap((check, index) => {
    const loc = [...at, String(index)];
    if (check.type === 'reached_node') {
      const nodes = [...agents[check.speaker].talkNodes.values()].map(({ id, data }) => ({ id, name: data.name || id }));
      if (nodes.some(({ id, name }) => check.node === id || check.node === name)) return [];
      const known = joinNames(nodes.map(({ name }) => name));
      return [toIssue([...loc, 'node'], `The ${check.speaker} has no node "${check.node}" to come through; there are: ${known}`)];
    }
    if (check.type === 'tool_called') {
      const known = [...listToolNames(agents[check.speaker]), knowledgeTool, endCallTool];
      if (known.includes(check.tool)) return [];
      return [toIssue([...loc, 'tool'], `The ${check.speaker} has no tool "${check.tool}"; there are: ${joinNames(known)}`)];
    }
    return [];
  });

const listToolNames = ({ talkNodes }: AgentDefinition): string[] => [
  ...new Set([...talkNodes.values()].flatMap(({ data }) => data.tools.map(({ name }) => name))),
];

const joinNames = (names: string[]): string => `${names.slice(0, maxNamesListed).join(', ')}${names.length > maxNamesListed ? ' ...' : ''}`;

const toIssue = (loc: string[], msg: string): Issue => ({ loc, msg, type: 'value_error' });
