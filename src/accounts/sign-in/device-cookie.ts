import { isEqualConstantTime, randomToken } from '../../library/security/hash.ts';
import { signParts } from '../../library/security/signed-paths.ts';

/**
 * The device token that a browser keeps after a log-in: `{id}.{signature}`. It gives no access. It tells the owner's device from strangers when log-ins with
 * the e-mail address fail (OWASP, "Slow Down Online Guessing Attacks with Device Cookies").
 */
export async function newDeviceToken(signingKey: string, email: string): Promise<string> {
  const id = randomToken(16);
  return `${id}.${await signParts(signingKey, ['device', email, id])}`;
}

/** The id of the device; null when the token was not issued for this e-mail address. */
export async function verifyDeviceToken(signingKey: string, email: string, mark: string | undefined): Promise<string | null> {
  const [id, signature] = mark?.split('.') ?? [];
  if (!id || !signature) return null;
  return isEqualConstantTime(signature, await signParts(signingKey, ['device', email, id])) ? id : null;
}
