import { basePath } from '../../http/public-url.ts';
import { randomToken } from '../../library/hash.ts';
import { signatureOf } from '../../library/signed-paths.ts';
import { toUnreserved } from '../../library/unreserved.ts';
import type { Carrier } from '../telephony-configs/carrier-of.ts';

/** Where a carrier reaches one call. */
export interface CallAddress {
  organizationId: number;
  configId: number;
  runId: number;
  /** The attempt. */
  key: string;
}

type Purpose = 'status' | 'answer' | 'machine' | 'recording' | 'connect';

const relayLastsSeconds = 3600;
const nonceBytes = 12;

const callPath = ({ organizationId, configId, runId }: Omit<CallAddress, 'key'>) =>
  `${basePath}/telephony/${organizationId}/${configId}/calls/${runId}`;

/** An address that the carrier calls back at; it signs what it sends there. */
export const callbackUrl = ({ callbackOrigin }: Pick<Carrier, 'callbackOrigin'>, address: CallAddress, purpose: Purpose): string =>
  `${callbackOrigin}${callPath(address)}/${purpose}?attempt=${toUnreserved(address.key)}`;

/**
 * The address of a call's socket. Carriers pass no query on and do not all sign the request, so a token of ours stands in the path; it opens
 * this call alone, once, within an hour.
 */
export async function relayUrl(signingKey: string, { callbackOrigin }: Carrier, address: CallAddress, now: number): Promise<string> {
  const expires = Math.floor(now / 1000) + relayLastsSeconds;
  const nonce = randomToken(nonceBytes);
  const signature = await relaySignature(signingKey, address, nonce, expires);
  return `${callbackOrigin.replace(/^http/, 'ws')}${callPath(address)}/relay/${nonce}/${expires}/${signature}`;
}

export const relaySignature = (
  signingKey: string,
  { organizationId, configId, runId }: Omit<CallAddress, 'key'>,
  nonce: string,
  expires: number,
): Promise<string> => signatureOf(signingKey, ['relay', organizationId, configId, runId, nonce, expires]);
