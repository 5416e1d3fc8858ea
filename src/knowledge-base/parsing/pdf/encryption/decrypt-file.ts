import { decodeLatin1 } from '../../../../library/text/decode-latin1.ts';
import { yieldToEventLoop } from '../../../../library/limits/yield-to-event-loop.ts';
import { passwordProtected } from '../../../../library/text/unparsable-document.ts';
import { decodeString, readTextString } from '../content-operations.ts';
import { decodeNames, findStreamEnd } from '../reject-decompression-bombs.ts';
import { decipher, type Method } from './decipher.ts';
import { findFileKey } from './file-key.ts';

const endOfStream = 'endstream';
const encryptKey = /\/Encrypt(?=[\s\0<])/g;
const objectsBetweenYields = 500;
const maxDictionaryLength = 4096;

interface Encryption {
  key: Uint8Array;
  strings: Method;
  streams: Method;
  encryptsMetadata: boolean;
  /** The object that describes the encryption, which is not encrypted. */
  object: number | undefined;
}

/**
 * Decrypts a file that is encrypted and opens without a password, so that everything that looks into it reads what a reader of the document sees, limits of size included.
 * What is decrypted stands where it stood and is not longer. `file`: `bytes` as Latin 1. Returns the file; other files as they are. Throws where a password is needed.
 */
export async function decryptFile(bytes: Uint8Array, file: string): Promise<string> {
  if (file.search(encryptKey) === -1) return file;
  const encryption = readEncryption(file);
  if (!encryption) return file;
  let count = 0;
  let end = 0;
  for (const { index, 0: mark, 1: number, 2: generation } of file.matchAll(/(?<!\d)(\d{1,10})[\s\0]+(\d{1,5})[\s\0]+obj(?![a-z])/g)) {
    if (index < end) continue;
    const object = { number: Number(number), generation: Number(generation) };
    end = object.number === encryption.object ? index : decryptObject(bytes, file, index + mark.length, object, encryption);
    count += 1;
    if (count % objectsBetweenYields === 0) await yieldToEventLoop();
  }
  // The file is no longer encrypted: the key is given a name that says nothing.
  for (const { index, 0: name } of file.matchAll(encryptKey)) bytes[index + name.length - 1] = 0x78;
  return decodeLatin1(bytes);
}

/** Returns where the object ends. */
function decryptObject(
  bytes: Uint8Array,
  file: string,
  begin: number,
  object: { number: number; generation: number },
  { key, strings, streams, encryptsMetadata }: Encryption,
): number {
  const { end, start } = findParts(file, begin);
  const dictionary = decodeNames(file.slice(begin, end));
  if (/\/Type[\s\0]*\/XRef\b/.test(dictionary)) return end;
  for (const { at, written } of findStrings(file, begin, end)) {
    const encrypted = Uint8Array.from(decodeString(written), (sign) => sign.charCodeAt(0));
    const plain = writeString(decipher(strings, key, object, encrypted), written.length);
    if (plain !== undefined) write(bytes, at, plain.padEnd(written.length));
  }
  if (start === undefined) return end;
  const streamEnd = findStreamEnd(file, start);
  const isPlain = /\/Crypt\b/.test(dictionary) || (!encryptsMetadata && /\/Type[\s\0]*\/Metadata\b/.test(dictionary));
  if (isPlain) return streamEnd;
  const plain = decipher(streams, key, object, bytes.subarray(start, streamEnd));
  bytes.set(plain, start);
  if (plain.length < streamEnd - start) write(bytes, start + plain.length, `\n${endOfStream}`.padEnd(streamEnd - start - plain.length));
  return streamEnd;
}

/** Where the object, or the dictionary of its stream, ends. Its strings may have any bytes. `start`: of its stream. */
function findParts(file: string, begin: number): { end: number; start: number | undefined } {
  const ends = /\(|endobj|(?<![a-z])stream\r?\n/g;
  ends.lastIndex = begin;
  for (let found = ends.exec(file); found; found = ends.exec(file)) {
    if (found[0] !== '(') return { end: found.index, start: found[0] === 'endobj' ? undefined : found.index + found[0].length };
    const text = readTextString(file, found.index);
    if (text === undefined) break;
    ends.lastIndex = found.index + text.length;
  }
  return { end: file.length, start: undefined };
}

function* findStrings(file: string, begin: number, end: number): Generator<{ at: number; written: string }> {
  const starts = /\(|<<|<|%[^\r\n]*/g;
  starts.lastIndex = begin;
  for (let found = starts.exec(file); found && found.index < end; found = starts.exec(file)) {
    if (found[0] !== '(' && found[0] !== '<') continue;
    const written = readTextString(file, found.index);
    if (written === undefined) return;
    yield { at: found.index, written };
    starts.lastIndex = found.index + written.length;
  }
}

/** The string in at most so many signs; undefined: it needs more. */
function writeString(bytes: Uint8Array, length: number): string | undefined {
  const text = decodeLatin1(bytes);
  const literal = `(${text.replace(/[\\()\r]/g, (sign) => (sign === '\r' ? '\\r' : `\\${sign}`))})`;
  if (literal.length <= length) return literal;
  const digits = `<${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}>`;
  return digits.length <= length ? digits : undefined;
}

function write(bytes: Uint8Array, at: number, text: string): void {
  for (let index = 0; index < text.length; index += 1) bytes[at + index] = text.charCodeAt(index);
}

/** Throws where a password is needed. */
function readEncryption(file: string): Encryption | undefined {
  const dictionary = findDictionary(file);
  if (!dictionary) return undefined;
  const { text, object } = dictionary;
  const id = [...file.matchAll(/\/ID[\s\0]*\[[\s\0]*(?=[(<])/g)].at(-1);
  const version = readNumber(text, 'V') ?? 0;
  const encryptsMetadata = !/\/EncryptMetadata[\s\0]+false/.test(text);
  const key = /\/Filter[\s\0]*\/Standard\b/.test(text)
    ? findFileKey({
        revision: readNumber(text, 'R') ?? 0,
        keyLength: version === 4 ? 16 : Math.floor((readNumber(text, 'Length') ?? 40) / 8),
        owner: readBytes(text, 'O'),
        user: readBytes(text, 'U'),
        userKey: readBytes(text, 'UE'),
        permissions: readNumber(text, 'P') ?? 0,
        encryptsMetadata,
        id: id ? toBytes(readTextString(file, id.index + id[0].length) ?? '') : new Uint8Array(),
      })
    : undefined;
  if (!key) throw passwordProtected();
  const methodOf = (use: string): Method => (version < 4 ? 'rc4' : readMethod(text, use));
  return { key, strings: methodOf('StrF'), streams: methodOf('StmF'), encryptsMetadata, object };
}

/** The dictionary that the last end of the file names. What only looks like the key, in a text, names none. */
function findDictionary(file: string): { text: string; object: number | undefined } | undefined {
  for (const { index, 0: name } of [...file.matchAll(encryptKey)].toReversed()) {
    const after = file.slice(index + name.length, index + maxDictionaryLength);
    const number = /^[\s\0]*(\d+)[\s\0]+\d+[\s\0]+R/.exec(after)?.[1];
    const text = number === undefined ? after : (objectOf(file, number) ?? '');
    if (/\/Filter[\s\0]*\/\w/.test(text) && /\/V[\s\0]+\d/.test(text))
      return { text, object: number === undefined ? undefined : Number(number) };
  }
  return undefined;
}

/** The last object of a number. */
function objectOf(file: string, number: string): string | undefined {
  const found = [...file.matchAll(new RegExp(`(?<!\\d)${number}[\\s\\0]+\\d{1,5}[\\s\\0]+obj(?![a-z])`, 'g'))].at(-1);
  return found && file.slice(found.index, findParts(file, found.index).end);
}

function readMethod(text: string, use: string): Method {
  const name = new RegExp(`/${use}[\\s\\0]*/(\\w+)`).exec(text)?.[1];
  if (name === undefined || name === 'Identity') return 'none';
  const filter = new RegExp(`/${name}[\\s\\0]*<<[^>]*/CFM[\\s\\0]*/(\\w+)`).exec(text)?.[1];
  const methods: Record<string, Method> = { V2: 'rc4', AESV2: 'aes128', AESV3: 'aes256' };
  return methods[filter ?? ''] ?? 'none';
}

function readNumber(text: string, key: string): number | undefined {
  const found = new RegExp(`/${key}[\\s\\0]+(-?\\d+)`).exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

function readBytes(text: string, key: string): Uint8Array {
  const found = new RegExp(`/${key}[\\s\\0]*(?=[(<])`).exec(text);
  return toBytes(found ? (readTextString(text, found.index + found[0].length) ?? '') : '');
}

const toBytes = (written: string): Uint8Array => Uint8Array.from(written === '' ? '' : decodeString(written), (sign) => sign.charCodeAt(0));
