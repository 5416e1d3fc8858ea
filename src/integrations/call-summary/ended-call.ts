/** A finished call, as a summary tells of it. */
export interface EndedCall {
  runId: number;
  agentId: number;
  agentName: string;
  /** The other side's, E.164. */
  phone: string | null;
  contactId: number | null;
  /** What the line did. */
  outcome: string;
  reason: string | null;
  /** What the talk led to; null: nobody talked, or nobody knows. */
  disposition: string | null;
  tags: string[];
  /** Whether the other side does not want to be called again. */
  isOptOut: boolean;
  summary: string | null;
  durationSeconds: number;
  /** Epoch ms. */
  endedAt: number;
}
