import { z } from '@hono/zod-openapi';
import { parseIsoInstant } from '../library/time/instants.ts';

const datePattern = /^\d{4}-\d{2}-\d{2}$/;
const isDateOrInstant = (text: string) => (datePattern.test(text) || text[10] === 'T') && parseIsoInstant(text) !== null;

/** One end of a range of time in a query. */
export const dateOrInstant = z.string().refine(isDateOrInstant, 'Not a date; use YYYY-MM-DD or an ISO 8601 timestamp');

/** Both ends inclusive; a bare date is the whole UTC day. Epoch milliseconds. */
export const parseRangeStart = (text: string): number => parseIsoInstant(text)!;
export const parseRangeEnd = (text: string): number => parseRangeStart(text) + (datePattern.test(text) ? 86_400_000 - 1 : 0);
