import type { Context } from '../../../context.ts';
import { toNetworkPrefix } from '../../../library/network-prefix.ts';
import { enforceRate, requireRateAvailable, type RateLimit } from '../../../http/middleware/rate-limit.ts';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../../library/platform/log.ts';
import { getSettings } from '../../../settings.ts';

// A delivery whose signature holds is its trigger's own sender. What proves nothing is counted by trigger and by network address.

/** From where a delivery came; undefined: the platform did not say. */
export type Address = string | undefined;

const toNetworkKey = (address: Address): string => (address ? toNetworkPrefix(address) : 'unknown');

function refusedWebhookRate(bindings: Env, address: Address): RateLimit {
  const limit = getSettings(bindings).PLAN_UNSIGNED_WEBHOOKS;
  const beyond = `More than ${limit} webhooks in 10 seconds from your network address that were refused`;
  return { key: `refused-webhooks:${toNetworkKey(address)}`, limit, exceededMessage: beyond };
}

/** Many organizations' webhooks may come from one address, that of a shop system, and what is refused of one must not keep out another's. */
const trustedSenders = new LRUCache<string, true>({ max: 10_000 });
const toSenderKey = (uuid: string, address: Address): string => `${toNetworkKey(address)}|${uuid.toLowerCase()}`;

/** The delivery to the trigger of this uuid was signed well, or its trigger verifies nothing. */
export function recordTrustedSender(uuid: string, address: Address): true {
  trustedSenders.set(toSenderKey(uuid, address), true);
  return true;
}

/** Before anything is read: an address whose deliveries were refused too often is answered 429 for the rest of the window, but where it is known for good ones. */
export function rejectBlockedSender(bindings: Env, uuid: string, address: Address, now: number): void {
  if (!trustedSenders.has(toSenderKey(uuid, address))) requireRateAvailable(refusedWebhookRate(bindings, address), now);
}

/** Counts a delivery to an address that there is not. Throws 429 in the place of 404. */
export const countUnknownTrigger = (bindings: Env, address: Address, now: number, log: Logger): Promise<void> =>
  enforceRate(bindings, refusedWebhookRate(bindings, address), now, log);

/** Counts a delivery whose signature does not hold. Throws 429 in the place of 401; deliveries that are signed well pass all the same. */
export async function countInvalidSignature(
  { bindings, organization, clock, log }: Context,
  triggerId: number,
  address: Address,
): Promise<void> {
  const limit = organization.plan.unsignedWebhooksPer10Seconds;
  const beyond = `More than ${limit} webhooks in 10 seconds to this trigger whose signature does not hold`;
  await enforceRate(bindings, refusedWebhookRate(bindings, address), clock(), log);
  await enforceRate(bindings, { key: `forged-webhooks:${triggerId}`, limit, exceededMessage: beyond }, clock(), log);
}

/** Counts a delivery to a trigger that verifies nothing. One address has half of what the trigger takes, so that it locks nobody else out. */
export async function countUnsigned({ bindings, organization, clock, log }: Context, triggerId: number, address: Address): Promise<void> {
  const limit = organization.plan.unsignedWebhooksPer10Seconds;
  const half = Math.ceil(limit / 2);
  const next = 'set auth in its config, since signed webhooks are not bounded by it';
  const ofAddress = `More than ${half} webhooks in 10 seconds from your network address to a trigger without auth (half of unsigned_webhooks_per_10_seconds of the plan); ${next}`;
  const ofTrigger = `More than ${limit} webhooks in 10 seconds to a trigger without auth (unsigned_webhooks_per_10_seconds of the plan); ${next}`;
  await enforceRate(
    bindings,
    { key: `unsigned-webhooks:${triggerId}:${toNetworkKey(address)}`, limit: half, exceededMessage: ofAddress },
    clock(),
    log,
  );
  await enforceRate(bindings, { key: `unsigned-webhooks:${triggerId}`, limit, exceededMessage: ofTrigger }, clock(), log);
}
