import { basePath } from '../../http/public-url.ts';
import { randomToken } from '../../library/security/hash.ts';
import { signParts } from '../../library/security/signed-paths.ts';
import { toUnreserved } from '../../library/text/unreserved.ts';
import type { Carrier } from '../../telephony-configs/load-carrier.ts';

/** Identifies one call in the addresses that its carrier uses. */
export interface CallAddress {
  organizationId: number;
  configId: number;
  runId: number;
  /** The attempt's key. */
  key: string;
}

/** `human`, `dialled` and `announcement` are about the line of a human to whom the call is handed. */
type CallbackPurpose = 'status' | 'answer' | 'machine' | 'recording' | 'connect' | 'human' | 'dialled' | 'announcement';

const relayTokenTtlSeconds = 3600;
const nonceBytes = 12;

/** The address of a carrier's callbacks of one purpose. The carrier signs them. */
export const buildCallbackUrl = (
  { callbackOrigin }: Pick<Carrier, 'callbackOrigin'>,
  address: CallAddress,
  purpose: CallbackPurpose,
): string => `${callbackOrigin}${callPath(address)}/${purpose}?attempt=${toUnreserved(address.key)}`;

/**
 * The address of a call's WebSocket. Carriers drop the query and do not all sign the request, so the path holds a signed token. The token
 * opens this call alone, once, within an hour. `now` in epoch ms.
 */
export async function buildRelayUrl(signingKey: string, { callbackOrigin }: Carrier, address: CallAddress, now: number): Promise<string> {
  const expires = Math.floor(now / 1000) + relayTokenTtlSeconds;
  const nonce = randomToken(nonceBytes);
  const signature = await signRelay(signingKey, address, nonce, expires);
  return `${callbackOrigin.replace(/^http/, 'ws')}${callPath(address)}/relay/${nonce}/${expires}/${signature}`;
}

/** Signs the address of a call's WebSocket. `expires` in epoch seconds. */
export const signRelay = (
  signingKey: string,
  { organizationId, configId, runId }: Omit<CallAddress, 'key'>,
  nonce: string,
  expires: number,
): Promise<string> => signParts(signingKey, ['relay', organizationId, configId, runId, nonce, expires]);

const callPath = ({ organizationId, configId, runId }: Omit<CallAddress, 'key'>) =>
  `${basePath}/telephony/${organizationId}/${configId}/calls/${runId}`;
