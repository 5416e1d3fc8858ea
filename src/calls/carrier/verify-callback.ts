import type { Context } from '../../context.ts';
import type { CarrierEvent } from '../../providers/telephony/carrier-events.ts';
import type { Carrier } from '../../telephony-configs/load-carrier.ts';
import type { CallAddress } from './callback-urls.ts';
import { selectCallRunByKey } from '../placing/store.ts';

/** A carrier's request as it was received. */
export interface Callback {
  /** Path and query, unchanged. */
  path: string;
  body: string;
  headers: Headers;
}

/** Whether the carrier has signed the request under the address that it knows. `now` in epoch ms. */
export const isSignedBy = async (carrier: Carrier, callback: Callback, now: number): Promise<boolean> =>
  carrier.telephony.isSigned(toCarrierRequest(carrier, callback), now);

const toCarrierRequest = ({ callbackOrigin }: Carrier, { path, ...request }: Callback) => ({ url: callbackOrigin + path, ...request });

/**
 * Whether a signed request is about the call that its address names. A carrier that signs only the body must name the same attempt, if it
 * names one, and the attempt must belong to the run.
 */
export async function isForCall(
  { database, organization }: Context,
  { telephony }: Carrier,
  { attemptKey }: CarrierEvent,
  { key, runId }: CallAddress,
): Promise<boolean> {
  if (telephony.signsUrl) return true;
  if (attemptKey !== undefined && attemptKey !== key) return false;
  const run = await database.first(selectCallRunByKey(database, organization.id, key));
  return run?.id === runId;
}
