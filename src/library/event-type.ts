import { z } from 'zod';

export const maxEventTypeLength = 255;

/** The name of a kind of event, wherever one is given. */
export const eventType = z
  .string()
  .trim()
  .min(1, 'Must not be empty')
  .max(maxEventTypeLength, `Must have ${maxEventTypeLength} characters or fewer`);
