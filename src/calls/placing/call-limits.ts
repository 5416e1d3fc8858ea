import { parseConfigurations } from '../../voice-agents/agents/configurations.ts';

/** For the goodbye, and for what the carrier needs until the agent is on the line. */
const connectMarginSeconds = 60;

/** What of an agent's `workflow_configurations` (JSON text) a call has to know when it is placed. */
export function parseCallLimits(configurations: string | null): { maximumSeconds: number; isRecorded: boolean } {
  const { max_call_duration, recording_enabled } = parseConfigurations(configurations === null ? {} : JSON.parse(configurations));
  return { maximumSeconds: max_call_duration + connectMarginSeconds, isRecorded: recording_enabled };
}
