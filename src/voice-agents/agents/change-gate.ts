import type { Context } from '../../context.ts';
import type { Warning } from '../../library/json/config-object.ts';
import type { AgentWithDefinition } from './store.ts';

/** A test that an agent has to pass, as it is configured in `workflow_configurations.required_tests`. */
export interface RequiredTest {
  adversary_workflow_id: number;
  /** As given: what the config leaves out is filled in when the test is run. */
  config: Record<string, unknown>;
}

/** The part of an agent that its required tests are about. */
export type TestedAgent = Pick<AgentWithDefinition, 'workflow_definition' | 'workflow_configurations'>;

/** What conversation tests say about a change of an agent. `simtest` implements it; agents know no tests. */
export interface AgentChangeGate {
  /** The parts of a required test's config that have no effect. */
  findTestConfigWarnings(config: unknown, loc: string[]): Warning[];
  /** Throws 422 for required tests that cannot be run with the agent as it would be. `before` null: the agent is new. */
  requireRunnableTests(context: Context, after: TestedAgent, before: TestedAgent | null): Promise<void>;
  /** Runs the required tests of an agent as it would be. Null: all passed; else sentences that say which did not, and why. */
  explainFailedTests(context: Context, agent: AgentWithDefinition): Promise<string | null>;
}

let gate: AgentChangeGate | null = null;

/** Says who judges changes of agents in this isolate. Called where the Worker is composed. */
export function setAgentChangeGate(composed: AgentChangeGate): void {
  gate = composed;
}

export function agentChangeGate(): AgentChangeGate {
  if (!gate) throw new Error('no gate for changes of agents was set');
  return gate;
}
