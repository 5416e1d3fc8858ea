import { fromUnreserved } from '../../src/library/text/unreserved.ts';

export type LineStatus = 'queued' | 'initiated' | 'ringing' | 'answered' | 'completed' | 'busy' | 'no_answer' | 'failed' | 'cancelled';

/** One call as the carrier saw it, for `/__sim/ledger`. Times are epoch ms. */
export interface CallRecord {
  sid: string;
  /** Twilio's account, Telnyx's connection. */
  account: string;
  /** From the address of the status callback: its `attempt` parameter, else the last part of its path. */
  attempt_key: string | null;
  direction: 'outbound' | 'inbound';
  /** Of a human to whom a call was handed: that call. */
  transfer_of: string | null;
  /** Whether this human was connected with the caller. */
  is_bridged: boolean;
  to: string;
  from: string;
  status: LineStatus;
  answered_by: 'person' | 'machine' | null;
  sip_code: number | null;
  ended_by: 'person' | 'service' | 'carrier' | null;
  created_at: number;
  dialled_at: number | null;
  answered_at: number | null;
  ended_at: number | null;
  /** Relay sockets that were opened. */
  sockets: number;
  transcript: { speaker: 'agent' | 'person'; text: string }[];
  /** From the end of each prompt to the first token of its answer. */
  first_token_ms: number[];
  /** What the other side did wrong, in the carrier's words. */
  problems: string[];
  recording: string | null;
}

export const durationSeconds = ({ answered_at, ended_at }: CallRecord): number =>
  answered_at === null || ended_at === null ? 0 : Math.max(1, Math.ceil((ended_at - answered_at) / 1000));

export function attemptKeyOf(callbackUrl: string | undefined): string | null {
  if (callbackUrl === undefined || !URL.canParse(callbackUrl)) return null;
  const { searchParams, pathname } = new URL(callbackUrl);
  const last = pathname.split('/').findLast((part) => part !== '');
  const attempt = searchParams.get('attempt');
  if (attempt !== null) return fromUnreserved(attempt);
  return last === undefined ? null : decodeURIComponent(last);
}
