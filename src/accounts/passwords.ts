import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

// OWASP Password Storage Cheat Sheet: scrypt with N=2^15, r=8, p=3 (32 MiB), which fits an isolate's 128 MB.
const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
const keyBytes = 32;

/** `scrypt$N$r$p$salt$key`, so that the cost can rise without breaking stored hashes. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, cost);
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64'), key.toString('base64')].join('$');
}

export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [scheme, N, r, p, salt, key] = stored.split('$');
  const expected = Buffer.from(key ?? '', 'base64');
  if (scheme !== 'scrypt' || !salt || expected.length !== keyBytes) return false;
  const derived = await derive(password, Buffer.from(salt, 'base64'), { ...cost, N: Number(N), r: Number(r), p: Number(p) });
  return timingSafeEqual(expected, derived);
}

/** Compared when the e-mail address is unknown, so that the answer takes as long as for a known one. */
export const unknownUserHash = 'scrypt$32768$8$3$AAAAAAAAAAAAAAAAAAAAAA==$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=';

const derive = (password: string, salt: Buffer, options: typeof cost): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    scrypt(password.normalize('NFKC'), salt, keyBytes, options, (error, key) => (error ? reject(error) : resolve(key))),
  );
