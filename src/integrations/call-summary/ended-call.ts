/** The facts of an ended call for its summary. */
export interface EndedCall {
  runId: number;
  agentId: number;
  agentName: string;
  /** The person's number, E.164. */
  phone: string | null;
  contactId: number | null;
  /** The outcome of the line. */
  outcome: string;
  reason: string | null;
  /** The disposition of the talk; null: nobody talked, or it is unknown. */
  disposition: string | null;
  tags: string[];
  /** Whether the person asked not to be called again. */
  isOptOut: boolean;
  summary: string | null;
  durationSeconds: number;
  /** Epoch ms. */
  endedAt: number;
}
