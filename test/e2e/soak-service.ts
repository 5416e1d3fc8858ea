import { CallCampaigns } from './call-campaigns.ts';
import type { StoredRun } from './campaign-verification.ts';
import { rowsOf } from './kill-evidence.ts';
import { KillableService } from './killable-service.ts';

/** What takes a minute elsewhere takes seconds here, but longer than the carrier delays an answer: a call may come late. */
export const shortTimeouts = {
  CALL_SILENCE_SECONDS: '3',
  CALL_UNKNOWN_AFTER_SECONDS: '2',
  CALL_LOOK_AGAIN_SECONDS: '2',
  CALL_VERDICT_SECONDS: '2',
  CALL_RESEND_SECONDS: '1',
  SWEEP_AFTER_SECONDS: '2',
  OVERDUE_AFTER_SECONDS: '3',
  RATE_LIMIT_REQUESTS: '60000',
  LOG_LEVEL: 'warn',
};

/** A service with an agent and a carrier, for an organization that may have so many calls at once. */
export async function startSoakService(
  concurrentCalls: number,
  simulated: Record<string, string>,
): Promise<{ service: KillableService; campaigns: CallCampaigns }> {
  const service = await KillableService.create({ ...shortTimeouts, PLAN_CONCURRENT_CALLS: String(concurrentCalls) }, simulated);
  const campaigns = new CallCampaigns(service);
  try {
    await campaigns.prepare();
  } catch (error) {
    await service.remove();
    throw error;
  }
  return { service, campaigns };
}

/** Every call's row, as it stands in the database. */
export const storedRuns = ({ stateDirectory }: KillableService): StoredRun[] =>
  rowsOf(
    stateDirectory,
    'SELECT id, attempt_key, phone, campaign_id, is_completed, outcome, reason, has_transcript FROM voice_agent_run',
  ) as StoredRun[];

/** The seed of a test with kills: that of KILL_SEED, or a random one. */
export const killSeed = (): number => Number(process.env['KILL_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
