import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

// OWASP Password Storage Cheat Sheet: scrypt with N=2^15, r=8, p=3 (32 MiB), which fits an isolate's 128 MB.
const scryptCost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
const keyBytes = 32;

/**
 * Hashes a password as `scrypt$N$r$p$salt$key`: the cost can rise without breaking stored hashes. With `like`, a stored hash, the new hash
 * gets the salt of `like`: a password is compared with all hashes of one salt in one computation.
 */
export async function hashPassword(password: string, like?: string): Promise<string> {
  const way = hashParameters(like) ?? ['scrypt', scryptCost.N, scryptCost.r, scryptCost.p, randomBytes(16).toString('base64')].join('$');
  return `${way}$${(await deriveKey(password, way)).toString('base64')}`;
}

/**
 * The index of the first of `stored` that is a hash of the password; -1 for none. Takes as long for no hash, and for many hashes of one
 * salt, as for one hash.
 */
export async function findMatchingHash(password: string, stored: string[]): Promise<number> {
  const ways = new Set(stored.map(hashParameters).filter((way) => way !== null));
  const keys = new Map<string, Buffer>();
  for (const way of ways.size ? ways : [dummyHashParameters]) keys.set(way, await deriveKey(password, way));
  return stored.findIndex((hash) => {
    const derived = keys.get(hashParameters(hash) ?? '');
    const expected = Buffer.from(hash.split('$')[5] ?? '', 'base64');
    return derived !== undefined && expected.length === keyBytes && timingSafeEqual(expected, derived);
  });
}

export const verifyPassword = async (password: string, stored: string): Promise<boolean> =>
  (await findMatchingHash(password, [stored])) === 0;

/** The parameters that are used for an unknown e-mail address, so that the answer takes as long as for a known one. */
const dummyHashParameters = 'scrypt$32768$8$3$AAAAAAAAAAAAAAAAAAAAAA==';

/** A hash without its key; null for text that is no hash. */
function hashParameters(hash: string | undefined): string | null {
  const parts = hash?.split('$');
  return parts?.length === 6 && parts[0] === 'scrypt' ? parts.slice(0, 5).join('$') : null;
}

function deriveKey(password: string, way: string): Promise<Buffer> {
  const [, N, r, p, salt] = way.split('$');
  const options = { ...scryptCost, N: Number(N), r: Number(r), p: Number(p) };
  return new Promise((resolve, reject) =>
    scrypt(password.normalize('NFKC'), Buffer.from(salt!, 'base64'), keyBytes, options, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  );
}
