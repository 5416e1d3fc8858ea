/** The files of a run in R2. */
export const artifactNames = ['transcript.txt', 'transcript.json', 'logs.json', 'recording'] as const;
export type ArtifactName = (typeof artifactNames)[number];

export const artifactKey = (organizationId: number, runId: number, name: ArtifactName): string =>
  `calls/${organizationId}/${runId}/${name}`;

/** `logs.json`, and `logs` of a run record. */
export interface RunLogs {
  /** Events of the conversation: ConversationEvent. */
  events: { type: string; at: string; node_id: string; payload: Record<string, unknown> }[];
  /** Reports of the carrier: StatusCallback. */
  status_callbacks: { status: string; at: string; details: Record<string, string | number> }[];
}

export const noLogs: RunLogs = { events: [], status_callbacks: [] };
