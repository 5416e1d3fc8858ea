import type { Utterance } from '../../voice-agents/conversation/transcript.ts';

/** The files of a run in R2. Earlier versions wrote `transcript.txt`, `transcript.json` and `logs.json` in the place of `talk.json`. */
export const artifactNames = ['talk.json', 'recording', 'transcript.txt', 'transcript.json', 'logs.json'] as const;
export type ArtifactName = (typeof artifactNames)[number];

export const artifactKey = (organizationId: number, runId: number, name: ArtifactName): string =>
  `calls/${organizationId}/${runId}/${name}`;

/** `talk.json`. */
export interface TalkFile {
  /** Without any, the run has no transcript. */
  utterances: Utterance[];
  logs: RunLogs;
}

/** `logs` of a run record. */
export interface RunLogs {
  /** Events of the conversation: ConversationEvent. */
  events: { type: string; at: string; node_id: string; payload: Record<string, unknown> }[];
  /** Reports of the carrier: StatusCallback. */
  status_callbacks: { status: string; at: string; details: Record<string, string | number> }[];
}

export const noLogs: RunLogs = { events: [], status_callbacks: [] };
