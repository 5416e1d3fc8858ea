import { createHash, createPrivateKey, createPublicKey, sign as signEd25519 } from 'node:crypto';

/** RFC 8410: what precedes the 32 bytes of an Ed25519 private key in PKCS #8. */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');
const seed = createHash('sha256').update('The simulated Telnyx signs with this').digest();
const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: 'der', type: 'pkcs8' });

/** The public key of every account of the simulated Telnyx, the same at each start, in base64. */
export const publicKey = Buffer.from(createPublicKey(privateKey).export({ format: 'jwk' }).x!, 'base64url').toString('base64');

/** Headers of a webhook that is sent now. */
export function signatureHeaders(body: string, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  return {
    'telnyx-timestamp': timestamp,
    'telnyx-signature-ed25519': signEd25519(null, Buffer.from(`${timestamp}|${body}`), privateKey).toString('base64'),
  };
}
