import type { Context } from '../../context.ts';
import { nextTimestamp, retryOnConflict } from '../../database/compare-and-set.ts';
import { badRequest, conflict, invalid, invalidAt, type Issue } from '../../library/errors.ts';
import type { ProviderKey } from '../../providers/messaging/messaging.ts';
import { findConfig, writeConfig, type ConfigRow } from './store.ts';
import { isProviderKey, providerKeys } from './credential-fields.ts';
import { parseCredentials, type StoredCredentials } from './credentials.ts';
import type { MessagingConfigBody } from '../schemas.ts';

/** The organization's configuration; null: nothing is configured yet. */
export const currentConfig = ({ database, organization }: Context): Promise<ConfigRow | null> => findConfig(database, organization.id);

type ConfigInput = NonNullable<MessagingConfigBody['messaging_app']>;

/**
 * Selects a provider and changes credentials; absent ones stay. `callbackOrigin`: the origin at which the caller reached the API. Throws
 * 400 for an unknown provider, 422 for other problems, and 409 when other requests keep changing the configuration.
 */
export async function updateConfig(
  context: Context,
  { messaging_app: wanted }: MessagingConfigBody,
  callbackOrigin: string,
): Promise<ConfigRow | null> {
  if (wanted === undefined) return currentConfig(context);
  requireKnownProviders(wanted);
  const changed = await retryOnConflict(async () => {
    const row = await buildConfigRow(context, await currentConfig(context), wanted, callbackOrigin);
    return (await writeConfig(context.database, context.organization.id, row)) ? row : null;
  });
  if (changed) return changed;
  throw conflict('The messaging configuration keeps being changed by other requests; try again');
}

function requireKnownProviders(wanted: ConfigInput): void {
  const named = [wanted.provider || undefined, ...Object.keys(wanted).filter((name) => name.startsWith('provider_'))];
  const unknown = named.find((name) => name !== undefined && !isProviderKey(name));
  if (unknown !== undefined) throw badRequest(`Unknown provider ${JSON.stringify(unknown)}; there are ${providerKeys.join(', ')}`);
}

async function buildConfigRow(context: Context, before: ConfigRow | null, wanted: ConfigInput, callbackOrigin: string): Promise<ConfigRow> {
  const credentials: Record<string, StoredCredentials | null> = {};
  const issues: Issue[] = [];
  for (const provider of providerKeys) {
    const reading = await parseProviderCredentials(context, provider, wanted, before?.credentials[provider] ?? null);
    credentials[provider] = reading.block;
    issues.push(...reading.issues);
  }
  if (issues.length > 0) throw invalid(issues);
  return {
    provider: selectProvider(credentials, wanted.provider, before?.provider ?? ''),
    credentials,
    callbackOrigin,
    revision: (before?.revision ?? 0) + 1,
    updatedAt: nextTimestamp(before?.updatedAt ?? null, context.clock()),
  };
}

async function parseProviderCredentials(
  { settings, organization }: Context,
  provider: ProviderKey,
  wanted: ConfigInput,
  before: StoredCredentials | null,
): Promise<{ block: StoredCredentials | null; issues: Issue[] }> {
  const given = wanted[provider];
  if (given == null) return { block: given === null ? null : before, issues: [] };
  const keeper = { encryptionKey: settings.ENCRYPTION_KEY, organizationId: organization.id };
  const judgement = { defaultCountry: organization.defaultCountry, allowedPrivateOrigins: settings.ALLOWED_PRIVATE_ORIGINS };
  return parseCredentials(keeper, provider, given, before, judgement);
}

/** The selected provider. A provider whose credentials are removed is no longer selected. */
function selectProvider(credentials: Record<string, StoredCredentials | null>, wanted: string | null | undefined, before: string): string {
  if (wanted === undefined) return credentials[before] ? before : '';
  if (!wanted) return '';
  if (credentials[wanted]) return wanted;
  throw invalidAt(['body', 'messaging_app', wanted], `Is missing: ${wanted} has no credentials yet, so it cannot be selected`, 'missing');
}
