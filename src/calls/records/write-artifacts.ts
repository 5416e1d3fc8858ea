import type { StoredMessage } from '../../voice-agents/conversation/contract.ts';
import { toTranscript } from '../../voice-agents/conversation/transcript.ts';
import { artifactKey, type RunLogs, type TalkFile } from './artifacts.ts';
import type { CallSetup } from '../live-call/call-setup.ts';

/** Writes what was said and the logs of a run, as one file. A repeat replaces it. */
export async function writeTalk(
  bucket: R2Bucket,
  { organizationId, runId }: Pick<CallSetup, 'organizationId' | 'runId'>,
  messages: readonly StoredMessage[],
  logs: RunLogs,
): Promise<void> {
  const talk: TalkFile = { utterances: toTranscript(messages), logs };
  await bucket.put(artifactKey(organizationId, runId, 'talk.json'), JSON.stringify(talk), {
    httpMetadata: { contentType: 'application/json' },
  });
}
