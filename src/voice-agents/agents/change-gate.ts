import type { Context } from '../../context.ts';
import type { Warning } from '../../library/json/config-object.ts';
import type { AgentWithDefinition } from './store.ts';

/** A test that an agent has to pass, from `workflow_configurations.required_tests`. */
export interface RequiredTest {
  adversary_workflow_id: number;
  /** The config as given; defaults are filled in when the test is run. */
  config: Record<string, unknown>;
}

/** The fields of an agent that required tests depend on. */
export type TestedAgent = Pick<AgentWithDefinition, 'workflow_definition' | 'workflow_configurations'>;

/** The checks of conversation tests before an agent is changed. `simtest` implements this interface, because agents may not import it. */
export interface AgentChangeGate {
  /** The parts of a required test's config that have no effect. */
  findTestConfigWarnings(config: unknown, loc: string[]): Warning[];
  /** Throws 422 for required tests that cannot be run with the changed agent. `before` null: the agent is new. */
  requireRunnableTests(context: Context, after: TestedAgent, before: TestedAgent | null): Promise<void>;
  /** Runs the required tests with the changed agent. Null: all passed; else sentences with the failed tests and the reasons. */
  explainFailedTests(context: Context, agent: AgentWithDefinition): Promise<string | null>;
}

let gate: AgentChangeGate | null = null;

/** Sets the gate of this isolate. Called where the Worker is composed. */
export function setAgentChangeGate(composed: AgentChangeGate): void {
  gate = composed;
}

export function agentChangeGate(): AgentChangeGate {
  if (!gate) throw new Error('no gate for changes of agents was set');
  return gate;
}
