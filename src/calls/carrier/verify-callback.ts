import type { Context } from '../../context.ts';
import type { CarrierEvent } from '../../providers/telephony/carrier-events.ts';
import { formFields } from '../../library/text/clean-text.ts';
import { parseJson } from '../../library/json/json.ts';
import { readTelnyxCallback } from '../../providers/telephony/telnyx/callbacks.ts';
import { hasValidTelnyxSignature } from '../../providers/telephony/telnyx/signature.ts';
import { readTwilioCallback } from '../../providers/telephony/twilio/callbacks.ts';
import { hasValidTwilioSignature } from '../../providers/telephony/twilio/signature.ts';
import type { Carrier } from '../../telephony-configs/load-carrier.ts';
import type { CallAddress } from './callback-urls.ts';
import { selectCallRunByKey } from '../placing/store.ts';

/** A request as it came, its body unread by anybody else. */
export interface Callback {
  /** Path and query, letter for letter. */
  path: string;
  body: string;
  headers: Headers;
}

/** Whether the carrier has signed the request, over the address under which it knows us. `now` in epoch ms. */
export async function isSignedBy(carrier: Carrier, { path, body, headers }: Callback, now: number): Promise<boolean> {
  const { account } = carrier;
  if (account.provider === 'telnyx')
    return hasValidTelnyxSignature(
      { body, signature: headers.get('telnyx-signature-ed25519'), timestamp: headers.get('telnyx-timestamp') },
      account.publicKey ?? '',
      now,
    );
  return hasValidTwilioSignature(
    {
      url: carrier.callbackOrigin + path,
      body,
      contentType: headers.get('content-type'),
      signature: headers.get('x-twilio-signature'),
      settings: headers.get('x-twilio-webhooks-signature-settings'),
    },
    { authToken: account.authToken },
  );
}

/**
 * Whether what a signed request tells is about the call that its address names. Twilio signs the address, too. Telnyx signs the body alone, so
 * that it must name the same attempt where it names one, and the attempt must be that of the run.
 */
export async function isForCall(
  { database, organization }: Context,
  { provider }: Carrier,
  { attemptKey }: CarrierEvent,
  { key, runId }: CallAddress,
): Promise<boolean> {
  if (provider === 'twilio') return true;
  if (attemptKey !== undefined && attemptKey !== key) return false;
  const run = await database.first<{ id: number }>(selectCallRunByKey(database, organization.id, key));
  return run?.id === runId;
}

/** What a signed request tells; undefined: nothing that concerns us. */
export function parseCarrierEvent(carrier: Carrier, { body }: Callback, now: number): CarrierEvent | undefined {
  if (carrier.provider === 'twilio') return readTwilioCallback(formFields(body), now);
  try {
    return readTelnyxCallback(parseJson(body), now);
  } catch {
    return undefined;
  }
}
