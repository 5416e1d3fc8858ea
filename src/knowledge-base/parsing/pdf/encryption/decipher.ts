import { createDecipheriv, createHash } from 'node:crypto';
import { rc4 } from './rc4.ts';

/** How the strings or the streams of a file are encrypted. */
export type Method = 'none' | 'rc4' | 'aes128' | 'aes256';

const blockBytes = 16;
const aesSalt = Uint8Array.from('sAlT', (sign) => sign.charCodeAt(0));

/** Decrypts what belongs to an object (ISO 32000-2, 7.6.3). Bytes that are not encrypted so stay as they are. */
export function decipher(
  method: Method,
  fileKey: Uint8Array,
  object: { number: number; generation: number },
  bytes: Uint8Array,
): Uint8Array {
  if (method === 'none') return bytes;
  const key = method === 'aes256' ? fileKey : toObjectKey(method, fileKey, object);
  return method === 'rc4' ? rc4(key, bytes) : decipherAes(method === 'aes128' ? 'aes-128-cbc' : 'aes-256-cbc', key, bytes);
}

function toObjectKey(method: Method, fileKey: Uint8Array, { number, generation }: { number: number; generation: number }): Uint8Array {
  const place = Uint8Array.of(number, number >> 8, number >> 16, generation, generation >> 8);
  const digest = createHash('md5').update(fileKey).update(place);
  if (method === 'aes128') digest.update(aesSalt);
  return new Uint8Array(digest.digest()).subarray(0, Math.min(fileKey.length + 5, 16));
}

/** The first block is the initial vector; the last byte says how many bytes fill the last block. */
function decipherAes(algorithm: 'aes-128-cbc' | 'aes-256-cbc', key: Uint8Array, bytes: Uint8Array): Uint8Array {
  const whole = bytes.length - (bytes.length % blockBytes);
  if (whole <= blockBytes) return whole === blockBytes ? new Uint8Array() : bytes;
  const aes = createDecipheriv(algorithm, key, bytes.subarray(0, blockBytes)).setAutoPadding(false);
  const plain = Buffer.concat([aes.update(bytes.subarray(blockBytes, whole)), aes.final()]);
  const filled = plain.at(-1) ?? 0;
  return new Uint8Array(plain.subarray(0, filled >= 1 && filled <= blockBytes ? plain.length - filled : plain.length));
}
