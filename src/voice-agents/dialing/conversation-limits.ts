import { isRecord } from '../../library/json.ts';

/** For the goodbye, and for what the carrier needs until the agent is on the line. */
const spareSeconds = 60;
const usualSeconds = 300;

/** What of an agent's `workflow_configurations` (JSON text) a call has to know when it is placed. */
export function conversationLimits(configurations: string | null): { maximumSeconds: number; isRecorded: boolean } {
  const parsed: unknown = configurations === null ? {} : JSON.parse(configurations);
  const given = isRecord(parsed) ? parsed : {};
  const longest = typeof given['max_call_duration'] === 'number' ? given['max_call_duration'] : usualSeconds;
  return { maximumSeconds: longest + spareSeconds, isRecorded: given['recording_enabled'] !== false };
}
