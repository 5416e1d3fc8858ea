import type { Carrier } from '../../telephony-configs/load-carrier.ts';
import type { BegunCall, ReturnReason } from '../contract.ts';

/** What a call needs for being placed. */
export interface ReadyCall {
  runId: number;
  maxSeconds: number;
  isRecorded: boolean;
  carrier: Carrier;
  detectsMachines: boolean;
  /** Whether a message is left on machines. */
  leavesMessage: boolean;
  /** Epoch ms at which the contact policy allows the call no longer; null: it sets no time. */
  allowedUntil: number | null;
}

export interface PreparedCall {
  call: BegunCall;
  ready: ReadyCall | null;
  refusal: { refused: ReturnReason; detail: string; until?: number | null } | null;
  /** Its run was completed in the meantime. */
  isRunCompleted: boolean;
}
