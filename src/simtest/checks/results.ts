import { sortAscending, percentileOf } from '../../library/percentiles.ts';
import type { CheckResult, Outcome, SideResult, StopReason, TestResults } from '../contract.ts';
import type { Side, Sides, Turn } from '../dialogue/turn-order.ts';

interface ResultsInput {
  stopReason: StopReason;
  maxTurns: number;
  turns: readonly Turn[];
  sides: Sides;
  checks: CheckResult[];
  /** From the start to the end of the conversation. */
  durationMs: number;
  /** The tokens that judging used. */
  judgeUsage: { prompt_tokens: number; completion_tokens: number };
}

/** The results of an ended session. */
export function computeResults({ stopReason, maxTurns, turns, sides, checks, durationMs, judgeUsage }: ResultsInput): TestResults {
  const latencies = sortAscending(turns.map(({ latencyMs }) => latencyMs));
  const usages = [judgeUsage, ...[sides.actor, sides.adversary].flatMap(({ state }) => (state ? [state.usage] : []))];
  return {
    outcome: computeOutcome(stopReason, checks),
    stop_reason: stopReason,
    turns: turns.length,
    max_turns: maxTurns,
    duration_seconds: durationMs / 1000,
    latency_ms: { p50: percentileOf(latencies, 0.5), p95: percentileOf(latencies, 0.95), max: latencies.at(-1) ?? null },
    tokens: {
      prompt: usages.reduce((sum, usage) => sum + usage.prompt_tokens, 0),
      completion: usages.reduce((sum, usage) => sum + usage.completion_tokens, 0),
    },
    checks,
    actor: toSideResult(sides.actor),
    adversary: toSideResult(sides.adversary),
  };
}

/** A failed required check fails the session. A check that cannot be evaluated decides nothing. */
const computeOutcome = (stopReason: StopReason, checks: CheckResult[]): Outcome => {
  if (stopReason === 'error') return 'error';
  return checks.some(({ required, passed }) => required && passed === false) ? 'failed' : 'passed';
};

const toSideResult = ({ state }: Side): SideResult => ({
  disposition: state?.conclusion?.disposition ?? null,
  nodes_visited: state?.nodesVisited ?? [],
  extracted_variables: state?.extracted ?? {},
});
