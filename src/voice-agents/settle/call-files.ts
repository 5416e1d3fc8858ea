import type { StoredMessage } from '../conversation/contract.ts';
import { transcriptOf, transcriptText } from '../conversation/transcript.ts';
import { artifactKey, type ArtifactName, type RunLogs } from '../runs/artifacts.ts';
import type { CallFacts } from './call-facts.ts';

type Run = Pick<CallFacts, 'organizationId' | 'runId'>;

const types = {
  'transcript.json': 'application/json',
  'transcript.txt': 'text/plain; charset=utf-8',
  'logs.json': 'application/json',
} satisfies Partial<Record<ArtifactName, string>>;

const put = (bucket: R2Bucket, { organizationId, runId }: Run, name: keyof typeof types, text: string): Promise<unknown> =>
  bucket.put(artifactKey(organizationId, runId, name), text, { httpMetadata: { contentType: types[name] } });

/** Writes the transcript, as `{ utterances }` and as text; nothing when nothing was said. */
export async function writeTranscript(bucket: R2Bucket, run: Run, messages: readonly StoredMessage[]): Promise<void> {
  const utterances = transcriptOf(messages);
  if (utterances.length === 0) return;
  await put(bucket, run, 'transcript.json', JSON.stringify({ utterances }));
  await put(bucket, run, 'transcript.txt', transcriptText(utterances));
}

export async function writeLogs(bucket: R2Bucket, run: Run, logs: RunLogs): Promise<void> {
  await put(bucket, run, 'logs.json', JSON.stringify(logs));
}
