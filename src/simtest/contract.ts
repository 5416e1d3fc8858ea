import type { Json } from '../library/json/json.ts';
import type { PinnedModel } from '../language-models/pinned-models.ts';
import type { TestConfig } from './config/config.ts';

// The data of test sessions and load tests. All moments in epoch ms.

export type Speaker = 'actor' | 'adversary';

export const sessionStatuses = ['pending', 'running', 'completed', 'failed', 'stopped'] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

/** Why the conversation ended. The first reason counts. */
export type StopReason =
  | 'actor_ended'
  | 'adversary_ended'
  | 'max_turns'
  | 'max_duration'
  /** A side had nothing to say in two turns running. */
  | 'silence'
  | 'stopped'
  /** The language model or the service failed. */
  | 'error';

/** `error`: it is unknown whether the session passed. */
export type Outcome = 'passed' | 'failed' | 'error';

/** One utterance of one side. `number` counts from 1. */
export interface TestTurn {
  number: number;
  speaker: Speaker;
  text: string;
  at: number;
  /** From the other side's utterance to the end of this one, the model's time included. */
  latencyMs: number;
}

/** A tool call of the actor or the adversary. */
export interface CalledTool {
  speaker: Speaker;
  name: string;
  /** The parsed arguments; null when they cannot be parsed. */
  arguments: Json;
}

/** The result of one side of the conversation. */
export interface SideResult {
  disposition: string | null;
  nodes_visited: string[];
  extracted_variables: Record<string, Json>;
}

/** `passed` null: the check could not be evaluated, and neither passes nor fails. */
export interface CheckResult {
  name: string;
  passed: boolean | null;
  required: boolean;
  detail: string;
}

export interface TestResults {
  outcome: Outcome;
  stop_reason: StopReason;
  turns: number;
  max_turns: number;
  duration_seconds: number;
  latency_ms: { p50: number | null; p95: number | null; max: number | null };
  tokens: { prompt: number; completion: number };
  checks: CheckResult[];
  actor: SideResult;
  adversary: SideResult;
}

/** The fields of a session record that come from the object. */
export interface LiveSession {
  status: SessionStatus;
  results: TestResults | null;
  /** A sentence; null unless the session failed. */
  error: string | null;
  startedAt: number;
  completedAt: number | null;
}

/** An ended session as its load test counts it. */
export interface SessionReport {
  sessionId: number;
  testIndex: number;
  status: 'completed' | 'failed' | 'stopped';
  outcome: Outcome | null;
  error: string | null;
  durationMs: number;
  /** The latency of each turn. */
  latenciesMs: number[];
}

/** An agent as it was when the session started: later changes do not affect the session. */
export interface PinnedAgent {
  agentId: number;
  name: string;
  /** The stored definition, with sealed secrets. */
  definition: Record<string, unknown>;
  configurations: unknown;
  dispositionCodes: Record<string, string>;
  /** The agent's own variables, overridden by the variables of the test. */
  initialContext: Record<string, unknown>;
}

/** An unsaved change of the actor that the session verifies: columns of `voice_agent`, with sealed secrets in the definition. */
export interface Candidate {
  definition: Record<string, unknown>;
  workflow_configurations: unknown;
  template_context_variables: Record<string, unknown>;
  call_disposition_codes: Record<string, unknown>;
}

/** Everything that a session needs, fixed at its start: a running session reads nothing from D1. */
export interface SessionFacts {
  sessionId: number;
  organizationId: number;
  organization: { timezone: string; default_country: string };
  /** The language models of the organization, with sealed keys. Undefined in a session that began under an earlier version. */
  languageModels?: PinnedModel[];
  loadTestId: number | null;
  testIndex: number | null;
  config: TestConfig;
  actor: PinnedAgent;
  adversary: PinnedAgent;
}
