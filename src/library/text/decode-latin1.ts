import { Buffer } from 'node:buffer';

/**
 * Bytes as the characters of the same numbers. A decoder of the name `latin1` gives those of Windows-1252, and so a string that takes two bytes for
 * each byte.
 */
export const decodeLatin1 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
