import type { z } from 'zod';
import type { Issue } from '../../library/errors.ts';
import { toIssues } from '../../library/json/zod-issues.ts';
import type { AgentDefinition } from '../../voice-agents/definition/definition.ts';
import type { RequiredTest } from '../../voice-agents/agents/change-gate.ts';
import { findConfigIssues } from '../config/config-issues.ts';
import { TestConfig } from '../config/config.ts';

/** A test that can be run, or the issues that prevent it. */
export type ParsedRequiredTest = { config: TestConfig } | { issues: Issue[] };

/**
 * Parses a required test of `actor`. `adversary` is undefined when the organization has no such agent. An agent that is not sound is null: its
 * names cannot be checked. `loc` of issues begins with `at`.
 */
export function parseRequiredTest(
  test: RequiredTest,
  actor: AgentDefinition | null,
  adversary: AgentDefinition | null | undefined,
  at: string[],
): ParsedRequiredTest {
  const { adversary_workflow_id: id } = test;
  const unknown = {
    loc: [...at, 'adversary_workflow_id'],
    msg: `There is no voice agent ${id}; GET /workflow lists them`,
    type: 'value_error',
  };
  const parsed = TestConfig.safeParse(test.config);
  const issues = [
    ...(adversary === undefined ? [unknown] : []),
    ...(parsed.success ? [] : toIssues(parsed.error as z.ZodError, [...at, 'config'])),
    ...(parsed.success && actor && adversary ? findConfigIssues(parsed.data, { actor, adversary }, [...at, 'config']) : []),
  ];
  return parsed.success && issues.length === 0 ? { config: parsed.data } : { issues };
}
