/** What a run leaves in R2. */
export const artifactNames = ['transcript.txt', 'transcript.json', 'logs.json', 'recording'] as const;
export type ArtifactName = (typeof artifactNames)[number];

export const artifactKey = (organizationId: number, runId: number, name: ArtifactName): string =>
  `calls/${organizationId}/${runId}/${name}`;

/** `logs.json`, and `logs` of a run record. */
export interface RunLogs {
  /** What happened in the talk: ConversationEvent. */
  events: { type: string; at: string; node_id: string; payload: Record<string, unknown> }[];
  /** What the carrier told: StatusCallback. */
  status_callbacks: { status: string; at: string; details: Record<string, string | number> }[];
}

export const noLogs: RunLogs = { events: [], status_callbacks: [] };
