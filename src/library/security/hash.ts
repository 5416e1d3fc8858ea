import { createHash, randomBytes } from 'node:crypto';

export const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Random bytes as URL-safe text. */
export const randomToken = (bytes: number): string => randomBytes(bytes).toString('base64url');
