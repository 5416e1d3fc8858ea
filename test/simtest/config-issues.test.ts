import { expect, test } from 'vitest';
import { findConfigIssues } from '../../src/simtest/config/config-issues.ts';
import { TestConfig } from '../../src/simtest/config/config.ts';
import { parseAgentDefinition } from '../../src/voice-agents/definition/definition.ts';
import { salesAgent } from '../voice-agents/agents.ts';
import { orderTool, simpleAgent } from './sessions.ts';

const agents = {
  actor: parseAgentDefinition(salesAgent),
  adversary: parseAgentDefinition(simpleAgent('You order.', { tools: [orderTool] })),
};

const issuesOf = (config: object) => findConfigIssues(TestConfig.parse(config), agents, ['body', 'config']);

test('a config that names what is there has nothing wrong with it', () => {
  const checks = [
    { name: 'by id', type: 'reached_node', node: 'book' },
    { name: 'by name', type: 'reached_node', node: 'Booking' },
    { name: 'without a name', type: 'reached_node', node: 'start', speaker: 'adversary' },
    { name: 'own tool', type: 'tool_called', tool: 'find_order', speaker: 'adversary' },
    { name: 'documents', type: 'tool_called', tool: 'search_knowledge_base' },
    { name: 'goodbye', type: 'tool_called', tool: 'end_call' },
  ];
  const tool_mocks = [
    { name: 'find_order', response: { state: 'sent' } },
    { name: 'search_knowledge_base', error: 'down' },
  ];
  expect(issuesOf({ checks, tool_mocks })).toEqual([]);
});

test.each([
  [{ type: 'reached_node', node: 'bok' }, 'node', 'The actor has no node "bok" to come through; there are: Greeting, Booking, Goodbye'],
  [
    { type: 'reached_node', node: 'book', speaker: 'adversary' },
    'node',
    'The adversary has no node "book" to come through; there are: start',
  ],
  [{ type: 'tool_called', tool: 'find_order' }, 'tool', 'The actor has no tool "find_order"; there are: search_knowledge_base, end_call'],
  [
    { type: 'tool_called', tool: 'find_odrer', speaker: 'adversary' },
    'tool',
    'The adversary has no tool "find_odrer"; there are: find_order, search_knowledge_base, end_call',
  ],
])('a check that could never pass names what the side has: %j', (check, key, msg) => {
  const fine = { name: 'fine', type: 'max_turns', value: 3 };
  expect(issuesOf({ checks: [fine, { name: 'odd', ...check }] })).toEqual([
    { loc: ['body', 'config', 'checks', '1', key], msg, type: 'value_error' },
  ]);
});

test('a mock of no tool of either agent, and a second one of the same tool, are named', () => {
  const tool_mocks = ['find_order', 'find_odrer', 'find_order'].map((name) => ({ name, response: 1 }));
  expect(issuesOf({ tool_mocks })).toEqual([
    {
      loc: ['body', 'config', 'tool_mocks', '1', 'name'],
      msg: 'Neither agent has a tool "find_odrer"; there are: find_order, search_knowledge_base',
      type: 'value_error',
    },
    { loc: ['body', 'config', 'tool_mocks', '2', 'name'], msg: 'Another mock is of "find_order"; keep one of them', type: 'value_error' },
  ]);
});

test('a config is held to 64 KiB', () => {
  const ofLength = (length: number) => issuesOf({ actor_context: { notes: 'x'.repeat(length) } });
  expect(ofLength(65_000)).toEqual([]);
  expect(ofLength(66_000)).toMatchObject([{ loc: ['body', 'config'], msg: expect.stringMatching(/at most 65536 bytes/) }]);
});
