import type { z } from '@hono/zod-openapi';
import type { Context } from '../context.ts';
import { mask, open } from '../library/security/encryption.ts';
import { toTimestamp } from '../library/time/clock.ts';
import type { LanguageModelRecord } from './schemas.ts';
import type { LanguageModelRow } from './store.ts';

type LanguageModelOutput = z.infer<typeof LanguageModelRecord>;

/** A language model as the API shows it, with its key masked. */
export async function toLanguageModelRecord({ organization, settings }: Context, row: LanguageModelRow): Promise<LanguageModelOutput> {
  const { talk = null, extraction = null, judge = null, journey = null } = row.purposes;
  return {
    id: row.id,
    name: row.name,
    provider: row.provider,
    base_url: row.baseUrl,
    model: row.model,
    api_key: mask(await open(settings.ENCRYPTION_KEY, organization.id, row.apiKey)),
    purposes: { talk, extraction, judge, journey },
    first_token_seconds: row.firstTokenSeconds,
    prompt_usd_per_million: row.promptUsdPerMillion,
    completion_usd_per_million: row.completionUsdPerMillion,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  };
}
