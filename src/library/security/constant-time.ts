import { timingSafeEqual } from 'node:crypto';

/** Compares two texts in a time that does not tell where they differ. */
export function isEqualConstantTime(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.byteLength === second.byteLength && timingSafeEqual(first, second);
}
