import type { StoredMessage } from '../../voice-agents/conversation/contract.ts';
import { toTranscript, formatTranscript } from '../../voice-agents/conversation/transcript.ts';
import { artifactKey, type ArtifactName, type RunLogs } from './artifacts.ts';
import type { CallSetup } from '../live-call/call-setup.ts';

type Run = Pick<CallSetup, 'organizationId' | 'runId'>;

const contentTypes = {
  'transcript.json': 'application/json',
  'transcript.txt': 'text/plain; charset=utf-8',
  'logs.json': 'application/json',
} satisfies Partial<Record<ArtifactName, string>>;

/** Writes the transcript, as JSON (`{ utterances }`) and as text; nothing for an empty one. */
export async function writeTranscript(bucket: R2Bucket, run: Run, messages: readonly StoredMessage[]): Promise<void> {
  const utterances = toTranscript(messages);
  if (utterances.length === 0) return;
  await putArtifact(bucket, run, 'transcript.json', JSON.stringify({ utterances }));
  await putArtifact(bucket, run, 'transcript.txt', formatTranscript(utterances));
}

/** Writes the logs of a run as JSON. */
export async function writeLogs(bucket: R2Bucket, run: Run, logs: RunLogs): Promise<void> {
  await putArtifact(bucket, run, 'logs.json', JSON.stringify(logs));
}

const putArtifact = (bucket: R2Bucket, { organizationId, runId }: Run, name: keyof typeof contentTypes, text: string): Promise<unknown> =>
  bucket.put(artifactKey(organizationId, runId, name), text, { httpMetadata: { contentType: contentTypes[name] } });
