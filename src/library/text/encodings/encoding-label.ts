import { z } from 'zod';
import { toEncodingName } from './encoding-names.ts';

/** How the encoding of a file is named in the API. */
export const encodingDescription =
  'by any label that browsers know, such as `utf-8`, `windows-1251` or `shift_jis`; a byte order mark in the file goes first';

/** The label of an encoding. */
export const encodingLabel = z
  .string('Must be the name of an encoding')
  .trim()
  .max(40)
  .refine((label) => toEncodingName(label) !== null, 'Not the name of an encoding that browsers know, such as "utf-8" or "windows-1252"');
