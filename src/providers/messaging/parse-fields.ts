import { z } from 'zod';
import { localFailure, type MessagingFailure } from './failures.ts';

/** As most providers write a number: without the plus. */
export const stripPlus = (phone: string): string => phone.replace(/^\+/, '');

/** What keeps a text from being sent; undefined when nothing does. */
export function checkText(text: string, longest: number): MessagingFailure | undefined {
  if (text.trim() === '') return localFailure('unknown', 'The text is empty; give one');
  if (text.length > longest)
    return localFailure('unknown', `The text has ${text.length} characters, and this provider takes ${longest}; shorten it`);
  return undefined;
}

/** A code of a failure, a number or digits; null for anything else. */
export const Code = z
  .union([z.int(), z.string().regex(/^\d+$/).transform(Number)])
  .nullish()
  .catch(null);

/** An id, a text or a number. */
export const Id = z.union([z.string().min(1), z.int().transform(String)]);
