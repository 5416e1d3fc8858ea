import type { Context } from '../../context.ts';
import { sheet } from '../../providers/apps/sheet.ts';
import { toAppConnection } from '../connection/active-connection.ts';
import { existingIntegration } from '../existing-integration.ts';
import { unwrapOutcome } from '../unwrap-outcome.ts';

/** A page of the spreadsheets that the connected account can see, the last changed first. Throws 404, 400, 403 and 502. */
export async function searchSheets(
  context: Context,
  id: number,
  { query, page_token }: { query: string; page_token?: string | undefined },
) {
  const integration = await existingIntegration(context, id, ['sheet']);
  const outcome = await sheet(toAppConnection(context, integration)).search({ query, pageToken: page_token });
  const { files, nextPageToken } = await unwrapOutcome(context, integration, outcome);
  return {
    files: files.map((file) => ({ id: file.id, name: file.name, url: file.url, modified_at: file.modifiedAt })),
    next_page_token: nextPageToken,
  };
}
