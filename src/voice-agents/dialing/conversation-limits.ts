import { configurationsOf } from '../agents/configurations.ts';

/** For the goodbye, and for what the carrier needs until the agent is on the line. */
const spareSeconds = 60;

/** What of an agent's `workflow_configurations` (JSON text) a call has to know when it is placed. */
export function conversationLimits(configurations: string | null): { maximumSeconds: number; isRecorded: boolean } {
  const { max_call_duration, recording_enabled } = configurationsOf(configurations === null ? {} : JSON.parse(configurations));
  return { maximumSeconds: max_call_duration + spareSeconds, isRecorded: recording_enabled };
}
