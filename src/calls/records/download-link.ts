import type { Context } from '../../context.ts';
import { toTimestamp } from '../../library/time/clock.ts';
import { signPath } from '../../library/security/signed-paths.ts';
import { existingRun } from './store.ts';
import { type Artifact, requireArtifact } from './send-artifact.ts';

export interface DownloadLinkInput {
  agentId: number;
  runId: number;
  artifact: Artifact;
  expiresInSeconds: number;
}

/** A link to an artifact that works without credentials until it expires. Throws 404 where there is no such artifact. */
export async function createDownloadLink(
  context: Context,
  apiUrl: string,
  input: DownloadLinkInput,
): Promise<{ url: string; expires_at: string }> {
  const row = await existingRun(context, input.agentId, input.runId);
  requireArtifact(row, input.artifact);
  const expires = Math.floor(context.clock() / 1000) + input.expiresInSeconds;
  const path = `/artifacts/${context.organization.id}/${row.id}/${input.artifact}`;
  return { url: `${apiUrl}${await signPath(context.settings.SIGNING_KEY, 'GET', path, expires)}`, expires_at: toTimestamp(expires * 1000) };
}
