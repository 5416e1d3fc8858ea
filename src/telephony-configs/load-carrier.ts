import type { Context } from '../context.ts';
import { openCredentials } from './credentials.ts';
import { carrierAdapter, type CarrierKey } from '../providers/telephony/registry.ts';
import { open } from '../library/security/encryption.ts';
import type { Telephony } from '../providers/telephony/telephony.ts';
import { findConfig, findTwilioConfig, type TelephonyConfigRow } from './store.ts';

/** A telephony configuration with opened secrets, which must never be shown or logged. */
export interface Carrier {
  id: number;
  provider: CarrierKey;
  telephony: Telephony;
  /** E.164. */
  fromNumbers: string[];
  callsPerSecond: number;
  machineDetection: boolean;
  inboundAgentId: number | null;
  /** The origin of the carrier's callbacks, without the base path. */
  callbackOrigin: string;
}

const cacheTtlMs = 60_000;
const maxOrganizations = 1000;
/** Cached carriers by organization, then by configuration. */
const cache = new Map<number, { carriers: Map<number, Carrier>; until: number }>();

/** Loads the carrier of a configuration, from the isolate's cache for a minute. Null: the organization has no such configuration. */
export async function loadCarrier(context: Context, configId: number): Promise<Carrier | null> {
  const { database, organization } = context;
  // A carrier that is read before its organization is invalidated goes into a cache entry that no lookup finds any more.
  const { carriers } = cacheEntryOf(organization.id, context.clock());
  const known = carriers.get(configId);
  if (known) return known;
  const row = await findConfig(database, organization.id, configId);
  if (!row) return null;
  const carrier = await toCarrier(context, row);
  carriers.set(configId, carrier);
  return carrier;
}

/** Drops the organization's cached carriers in this isolate; other isolates follow within a minute. */
export function invalidateCarriers(organizationId: number): void {
  cache.delete(organizationId);
}

function cacheEntryOf(organizationId: number, now: number) {
  const known = cache.get(organizationId);
  // A clock that was set back must not extend the minute.
  if (known && known.until > now && known.until <= now + cacheTtlMs) return known;
  if (cache.size >= maxOrganizations) cache.clear();
  const entry = { carriers: new Map<number, Carrier>(), until: now + cacheTtlMs };
  cache.set(organizationId, entry);
  return entry;
}

async function toCarrier({ settings, organization }: Context, row: TelephonyConfigRow): Promise<Carrier> {
  const adapter = carrierAdapter(row.provider);
  const credentials = await openCredentials(settings, organization.id, row.provider, row.credentials);
  const timeoutMs = settings.CALL_ANSWER_WITHIN_SECONDS * 1000;
  return {
    id: row.id,
    provider: row.provider as CarrierKey,
    telephony: adapter.create(credentials, { baseUrl: adapter.baseUrl(settings, credentials), timeoutMs }),
    fromNumbers: row.fromNumbers,
    callsPerSecond: row.callsPerSecond,
    machineDetection: row.machineDetection,
    inboundAgentId: row.inboundAgentId,
    callbackOrigin: settings.PUBLIC_URL.replace(/\/$/, '') || row.callbackOrigin,
  };
}

/**
 * Loads the Twilio account of the default configuration, else of the oldest Twilio configuration; null: there is none. Must never be shown
 * or logged.
 */
export async function loadTwilioAccount({
  database,
  organization,
  settings,
}: Context): Promise<{ accountSid: string; authToken: string } | null> {
  const row = await findTwilioConfig(database, organization.id);
  if (!row) return null;
  const { account_sid: accountSid = '', auth_token: authToken = '' } = row.credentials;
  return { accountSid, authToken: await open(settings.ENCRYPTION_KEY, organization.id, authToken) };
}
