import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isMask, isSealed, mask, open, seal } from '../../src/library/security/encryption.ts';

const key = btoa('an-encryption-key-of-32-bytes...');
const otherKey = btoa('another-encryption-key-32-bytes.');

test('a sealed secret opens to what it was, whatever it was', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 1 }), async (secret, organizationId) => {
      expect(await open(key, organizationId, await seal(key, organizationId, secret))).toBe(secret);
    }),
    { numRuns: 50 },
  );
});

test('a sealed secret shows nothing of itself, and two of the same differ', async () => {
  const one = await seal(key, 7, 'sk_live_correct_horse');
  const two = await seal(key, 7, 'sk_live_correct_horse');
  expect(isSealed(one)).toBe(true);
  expect(one).not.toBe(two);
  expect(Buffer.from(one, 'base64').toString('latin1') + one).not.toMatch(/sk_live|horse/);
});

test('it opens for no other organization and by no other key', async () => {
  const sealed = await seal(key, 7, 'sk_live_correct_horse');
  await expect(open(key, 8, sealed)).rejects.toThrow();
  await expect(open(otherKey, 7, sealed)).rejects.toThrow();
});

test('it opens no more once a single character of it has changed', async () => {
  const sealed = await seal(key, 7, 'sk_live_correct_horse');
  const body = sealed.lastIndexOf(':') + 1;
  for (const at of [body, body + 8, sealed.indexOf('.') + 1, sealed.length - 6]) {
    const changed = sealed[at] === 'A' ? 'B' : 'A';
    await expect(open(key, 7, sealed.slice(0, at) + changed + sealed.slice(at + 1))).rejects.toThrow();
  }
  await expect(open(key, 7, sealed.slice(0, -8))).rejects.toThrow();
});

test('what was never sealed is not opened', async () => {
  for (const text of ['', 'sk_live', 'sealed:v2:AAAA.AAAA', 'sealed:v1:', 'sealed:v1:AAAA'])
    await expect(open(key, 7, text)).rejects.toThrow();
});

test('a mask shows four characters at the most, none of a short secret, and is known again', () => {
  expect(mask('sk_live_correct_horse')).toBe('****orse');
  expect(mask('short')).toBe('****');
  expect(mask('')).toBe('****');
  fc.assert(
    fc.property(fc.string(), (secret) => {
      expect(isMask(mask(secret))).toBe(true);
      expect(mask(secret).length).toBeLessThanOrEqual(8);
      expect(mask(secret).length - 4).toBeLessThanOrEqual(secret.length / 3);
    }),
  );
  expect(isMask('sk_live_correct_horse')).toBe(false);
});
