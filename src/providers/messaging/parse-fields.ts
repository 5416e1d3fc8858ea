import { z } from 'zod';
import { localFailure, type MessagingFailure } from './failures.ts';

/** A number without the plus, as most providers write it. */
export const stripPlus = (phone: string): string => phone.replace(/^\+/, '');

/** The failure of a text that cannot be sent; undefined: it can. */
export function checkText(text: string, maxLength: number): MessagingFailure | undefined {
  if (text.trim() === '') return localFailure('unknown', 'The text is empty; give one');
  if (text.length > maxLength)
    return localFailure('unknown', `The text has ${text.length} characters, and this provider takes ${maxLength}; shorten it`);
  return undefined;
}

/** An error code, a number or digits; null for anything else. */
export const Code = z
  .union([z.int(), z.string().regex(/^\d+$/).transform(Number)])
  .nullish()
  .catch(null);

/** An id, as text or as a number. */
export const Id = z.union([z.string().min(1), z.int().transform(String)]);
