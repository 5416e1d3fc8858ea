import type { Context } from '../context.ts';
import { open } from '../library/security/encryption.ts';
import { findTwilioConfig } from './store.ts';

/** The Twilio account of the default configuration, else of the oldest one that is Twilio's; null: there is none. Never to be shown or logged. */
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
