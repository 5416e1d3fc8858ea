import { basePath } from '../../http/public-url.ts';
import { randomToken } from '../../library/security/hash.ts';
import { signParts } from '../../library/security/signed-paths.ts';
import { toUnreserved } from '../../library/text/unreserved.ts';
import type { Carrier } from '../../telephony-configs/load-carrier.ts';

/** Where a carrier reaches one call. */
export interface CallAddress {
  organizationId: number;
  configId: number;
  runId: number;
  /** The attempt. */
  key: string;
}

type CallbackPurpose = 'status' | 'answer' | 'machine' | 'recording' | 'connect';

const relayTokenTtlSeconds = 3600;
const nonceBytes = 12;

const callPath = ({ organizationId, configId, runId }: Omit<CallAddress, 'key'>) =>
  `${basePath}/telephony/${organizationId}/${configId}/calls/${runId}`;

/** An address that the carrier calls back at; it signs what it sends there. */
export const buildCallbackUrl = (
  { callbackOrigin }: Pick<Carrier, 'callbackOrigin'>,
  address: CallAddress,
  purpose: CallbackPurpose,
): string => `${callbackOrigin}${callPath(address)}/${purpose}?attempt=${toUnreserved(address.key)}`;

/**
 * The address of a call's socket. Carriers pass no query on and do not all sign the request, so a token of ours stands in the path; it opens
 * this call alone, once, within an hour.
 */
export async function buildRelayUrl(signingKey: string, { callbackOrigin }: Carrier, address: CallAddress, now: number): Promise<string> {
  const expires = Math.floor(now / 1000) + relayTokenTtlSeconds;
  const nonce = randomToken(nonceBytes);
  const signature = await signRelay(signingKey, address, nonce, expires);
  return `${callbackOrigin.replace(/^http/, 'ws')}${callPath(address)}/relay/${nonce}/${expires}/${signature}`;
}

export const signRelay = (
  signingKey: string,
  { organizationId, configId, runId }: Omit<CallAddress, 'key'>,
  nonce: string,
  expires: number,
): Promise<string> => signParts(signingKey, ['relay', organizationId, configId, runId, nonce, expires]);
