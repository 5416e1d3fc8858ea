import { describe, expect, test } from 'vitest';
import { findMatchingHash, hashPassword, verifyPassword } from '../../src/accounts/passwords/hash-password.ts';

const costOf = (stored: string) => stored.split('$').slice(0, 4);

describe('password hashes', () => {
  test('the password that was hashed is right, any other is wrong', async () => {
    const stored = await hashPassword('correct horse battery');
    expect(await verifyPassword('correct horse battery', stored)).toBe(true);
    expect(await verifyPassword('correct horse batterz', stored)).toBe(false);
    expect(await verifyPassword('', stored)).toBe(false);
  });

  test('a hash names its cost and keeps nothing of the password', async () => {
    const stored = await hashPassword('correct horse battery');
    expect(stored).toMatch(/^scrypt\$32768\$8\$3\$[A-Za-z0-9+/=]{24}\$[A-Za-z0-9+/=]{44}$/);
    expect(stored).not.toContain('horse');
  });

  test('two hashes of one password differ', async () => {
    expect(await hashPassword('correct horse battery')).not.toBe(await hashPassword('correct horse battery'));
  });

  test('a hash of another cost is still checked', async () => {
    // scrypt('password', 'NaCl....', N=1024, r=8, p=16), first 32 bytes: RFC 7914, section 12.
    const rfc = `scrypt$1024$8$16$${btoa('NaCl')}$${Buffer.from('fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162', 'hex').toString('base64')}`;
    expect(await verifyPassword('password', rfc)).toBe(true);
    expect(await verifyPassword('Password', rfc)).toBe(false);
  });

  test('composed and decomposed spellings of one password are the same', async () => {
    expect(await verifyPassword('cafe\u0301 au lait', await hashPassword('caf\u00e9 au lait'))).toBe(true);
  });

  test('a text that is no hash fits no password', async () => {
    for (const stored of ['', 'none', 'scrypt$32768$8$3$$', 'scrypt$32768$8$3$AAAA$AAAA', 'bcrypt$32768$8$3$AAAA$AAAA'])
      expect(await verifyPassword('correct horse battery', stored)).toBe(false);
  });

  test('hashes of one salt are distinguished, and the first that fits is found', async () => {
    const first = await hashPassword('correct horse battery');
    const second = await hashPassword('staple of an unknown kind', first);
    expect(second.split('$').slice(0, 5)).toEqual(first.split('$').slice(0, 5));
    expect(await findMatchingHash('staple of an unknown kind', [first, second])).toBe(1);
    expect(await findMatchingHash('correct horse battery', [first, second, first])).toBe(0);
    expect(await findMatchingHash('neither of them both', [first, second])).toBe(-1);
    expect(await findMatchingHash('correct horse battery', [])).toBe(-1);
  });

  test('a text that is no hash gives no salt', async () => {
    expect(costOf(await hashPassword('correct horse battery', 'none'))).toEqual(costOf(await hashPassword('correct horse battery')));
  });
});
