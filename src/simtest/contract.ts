import type { Json } from '../library/json/json.ts';
import type { TestConfig } from './config/config.ts';

// What test sessions and load tests are, as plain data. All moments in epoch ms.

export type Speaker = 'actor' | 'adversary';

export const sessionStatuses = ['pending', 'running', 'completed', 'failed', 'stopped'] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

/** Why the two stopped talking. The first reason counts. */
export type StopReason =
  | 'actor_ended'
  | 'adversary_ended'
  | 'max_turns'
  | 'max_duration'
  /** A side had nothing to say, twice running. */
  | 'silence'
  | 'stopped'
  /** The language model or the service failed. */
  | 'error';

/** `error`: nobody can say whether it passed. */
export type Outcome = 'passed' | 'failed' | 'error';

/** One utterance of one side. `number` counts from 1. */
export interface TestTurn {
  number: number;
  speaker: Speaker;
  text: string;
  at: number;
  /** From the other side's words until all of this was said, the model's time included. */
  latencyMs: number;
}

/** A tool that the actor or the adversary called, and what it was told. */
export interface CalledTool {
  speaker: Speaker;
  name: string;
  /** As parsed; null when they could not be. */
  arguments: Json;
}

/** What one side's talk led to. */
export interface SideResult {
  disposition: string | null;
  nodes_visited: string[];
  extracted_variables: Record<string, Json>;
}

/** `passed` null: it cannot be told, which neither passes nor fails. */
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

/** The fields of a session that its object knows better than its row. */
export interface LiveSession {
  status: SessionStatus;
  results: TestResults | null;
  /** A sentence; null unless it failed. */
  error: string | null;
  startedAt: number;
  completedAt: number | null;
}

/** What a load test is told of a session that has ended. */
export interface SessionReport {
  sessionId: number;
  testIndex: number;
  status: 'completed' | 'failed' | 'stopped';
  outcome: Outcome | null;
  error: string | null;
  durationMs: number;
  /** Of each turn. */
  latenciesMs: number[];
}

/** How an agent stands in a session: pinned when it starts. */
export interface PinnedAgent {
  agentId: number;
  name: string;
  /** As stored, secrets in it sealed. */
  definition: Record<string, unknown>;
  configurations: unknown;
  dispositionCodes: Record<string, string>;
  /** The agent's own variables, and over them those of the test. */
  initialContext: Record<string, unknown>;
}

/** An actor as it would be when a change of it is saved, as the row keeps it. Columns of `voice_agent`, the definition's secrets sealed. */
export interface Candidate {
  definition: Record<string, unknown>;
  workflow_configurations: unknown;
  template_context_variables: Record<string, unknown>;
  call_disposition_codes: Record<string, unknown>;
}

/** Everything that a session needs to know, fixed when it starts: from then on nothing is read for it from D1. */
export interface SessionFacts {
  sessionId: number;
  organizationId: number;
  organization: { timezone: string; default_country: string };
  loadTestId: number | null;
  testIndex: number | null;
  config: TestConfig;
  actor: PinnedAgent;
  adversary: PinnedAgent;
}
