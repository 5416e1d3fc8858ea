import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import { rc4 } from './rc4.ts';

/** What a file says of its encryption (ISO 32000-2, 7.6.4); strings as bytes. */
export interface EncryptionDictionary {
  revision: number;
  /** In bytes. */
  keyLength: number;
  owner: Uint8Array;
  user: Uint8Array;
  userKey: Uint8Array;
  permissions: number;
  encryptsMetadata: boolean;
  /** The first part of the file's id. */
  id: Uint8Array;
}

const padding = Uint8Array.from(Buffer.from('28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a', 'hex'));
const md5 = (...parts: Uint8Array[]): Uint8Array => new Uint8Array(createHash('md5').update(Buffer.concat(parts)).digest());
const sha256 = (...parts: Uint8Array[]): Uint8Array => new Uint8Array(createHash('sha256').update(Buffer.concat(parts)).digest());
const areEqual = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;

/** The key of a file that opens without a password. Undefined: it has one, or its encryption is not known. */
export function findFileKey(dictionary: EncryptionDictionary): Uint8Array | undefined {
  if (dictionary.revision >= 2 && dictionary.revision <= 4) return findEarlierKey(dictionary);
  return dictionary.revision === 5 || dictionary.revision === 6 ? findLaterKey(dictionary) : undefined;
}

/** Revisions 2 to 4 (algorithms 2, 4 and 5). */
function findEarlierKey({
  revision,
  keyLength,
  owner,
  user,
  permissions,
  encryptsMetadata,
  id,
}: EncryptionDictionary): Uint8Array | undefined {
  const rights = new Uint8Array(4);
  new DataView(rights.buffer).setInt32(0, permissions | 0, true);
  const withoutMetadata = revision >= 4 && !encryptsMetadata ? Uint8Array.of(0xff, 0xff, 0xff, 0xff) : new Uint8Array();
  let digest = md5(padding, owner.subarray(0, 32), rights, id, withoutMetadata);
  const length = revision === 2 ? 5 : keyLength;
  const rounds = revision === 2 ? 0 : 50;
  for (let round = 0; round < rounds; round += 1) digest = md5(digest.subarray(0, length));
  const key = digest.subarray(0, length);
  if (revision === 2) return areEqual(rc4(key, padding), user.subarray(0, 32)) ? key : undefined;
  let check = md5(padding, id);
  for (let round = 0; round < 20; round += 1)
    check = rc4(
      key.map((byte) => byte ^ round),
      check,
    );
  return areEqual(check, user.subarray(0, 16)) ? key : undefined;
}

/** Revisions 5 and 6 (algorithms 2.A and 2.B). The user's entry is a hash, the salt of the hash, and the salt of the key. */
function findLaterKey({ revision, user, userKey }: EncryptionDictionary): Uint8Array | undefined {
  const hash = revision === 5 ? sha256 : hashInRounds;
  if (!areEqual(hash(user.subarray(32, 40)), user.subarray(0, 32))) return undefined;
  const decipher = createDecipheriv('aes-256-cbc', hash(user.subarray(40, 48)), new Uint8Array(16)).setAutoPadding(false);
  return new Uint8Array(Buffer.concat([decipher.update(userKey.subarray(0, 32)), decipher.final()]));
}

const minRounds = 64;
const maxRounds = 2000;

/** Of an empty password. */
function hashInRounds(salt: Uint8Array): Uint8Array {
  let key = sha256(salt);
  for (let round = 1; round <= maxRounds; round += 1) {
    const cipher = createCipheriv('aes-128-cbc', key.subarray(0, 16), key.subarray(16, 32)).setAutoPadding(false);
    const encrypted = Buffer.concat([cipher.update(Buffer.concat(Array.from({ length: 64 }, () => key))), cipher.final()]);
    const rest = encrypted.subarray(0, 16).reduce((sum, byte) => sum + byte, 0) % 3;
    key = new Uint8Array(
      createHash(['sha256', 'sha384', 'sha512'][rest] ?? 'sha256')
        .update(encrypted)
        .digest(),
    );
    if (round >= minRounds && encrypted.at(-1)! <= round - 32) break;
  }
  return key.subarray(0, 32);
}
