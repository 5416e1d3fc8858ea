import type { Context } from '../../../context.ts';
import { toNetworkPrefix } from '../../../http/network-prefix.ts';
import { enforceRate, requireRateAvailable, type RateLimit } from '../../../http/middleware/rate-limit.ts';
import { LRUCache } from 'lru-cache';
import { lazily } from '../../../library/lazily.ts';
import type { Logger } from '../../../library/platform/log.ts';
import { getSettings } from '../../../settings.ts';

// A delivery with a valid signature comes from the trigger's own sender. Other deliveries are counted by trigger and by network address.

/** The network address of a sender; undefined: the platform did not give it. */
export type Address = string | undefined;

const toNetworkKey = (address: Address): string => (address ? toNetworkPrefix(address) : 'unknown');

function refusedWebhookRate(bindings: Env, address: Address): RateLimit {
  const limit = getSettings(bindings).PLAN_UNSIGNED_WEBHOOKS;
  const beyond = `More than ${limit} webhooks in 10 seconds from your network address that were refused`;
  return { key: `refused-webhooks:${toNetworkKey(address)}`, limit, exceededMessage: beyond };
}

/** Webhooks of many organizations may come from one address, such as that of a shop system. Refusals of one must not block another. */
const trustedSenders = lazily(() => new LRUCache<string, true>({ max: 10_000 }));
const toSenderKey = (uuid: string, address: Address): string => `${toNetworkKey(address)}|${uuid.toLowerCase()}`;

/** Records that the address sent a valid delivery to the trigger of this uuid. */
export function recordTrustedSender(uuid: string, address: Address): true {
  trustedSenders().set(toSenderKey(uuid, address), true);
  return true;
}

/** Throws 429, before anything is read, for an address whose deliveries were refused too often in this window, except to triggers that trust it. */
export function rejectBlockedSender(bindings: Env, uuid: string, address: Address, now: number): void {
  if (!trustedSenders().has(toSenderKey(uuid, address))) requireRateAvailable(refusedWebhookRate(bindings, address), now);
}

/** Counts a delivery to an unknown webhook address. Throws 429 instead of 404 beyond the limit. */
export const countUnknownTrigger = (bindings: Env, address: Address, now: number, log: Logger): Promise<void> =>
  enforceRate(bindings, refusedWebhookRate(bindings, address), now, log);

/** Counts a delivery with an invalid signature. Throws 429 instead of 401 beyond the limit; valid deliveries are not limited. */
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

/** Counts a delivery to a trigger without auth. One address may use half of the trigger's limit, so that it does not block others. Throws 429. */
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
