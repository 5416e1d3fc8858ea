import { timingSafeEqual, createHash, randomBytes } from 'node:crypto';

export const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Random bytes as URL-safe text. */
export const randomToken = (bytes: number): string => randomBytes(bytes).toString('base64url');

/** Compares two texts in a time that does not tell where they differ. */
export function isEqualConstantTime(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.byteLength === second.byteLength && timingSafeEqual(first, second);
}
