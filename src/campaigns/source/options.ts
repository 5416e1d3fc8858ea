import { z } from 'zod';
import { configObject } from '../../library/json/config-object.ts';
import { isCountryCode } from '../../library/phone/phone-numbers.ts';
import { encodingDescription, encodingLabel } from '../../library/text/encodings/encoding-label.ts';
import type { RowOutcome } from '../../calls/attempt/outcomes.ts';

/** How a campaign's source is read. An absent option is derived from the source. */
export const SourceOptions = configObject({
  phone_column: z
    .string('Must be the name of a column')
    .trim()
    .min(1, 'Must be the name of a column')
    .max(1000)
    .nullish()
    .describe('Heading of the column with the phone numbers; found by its name when left out or null.'),
  sheet: z
    .string('Must be the name of a sheet')
    .trim()
    .min(1, 'Must be the name of a sheet')
    .max(255)
    .nullish()
    .describe('Name of the sheet of an .xlsx file; its first visible sheet with a table when left out or null.'),
  default_country: z
    .string('Must be a country code')
    .toUpperCase()
    .refine(isCountryCode, 'Not an ISO 3166-1 alpha-2 country code, such as "US"')
    .nullish()
    .describe('ISO 3166-1 alpha-2 code of the country of numbers without country code; that of the organization when left out or null.'),
  encoding: encodingLabel.nullish().describe(`Encoding of the file, ${encodingDescription}; found by its bytes when left out or null.`),
});
export type SourceOptions = z.infer<typeof SourceOptions>;

export const sourceKinds = ['csv', 'contact_list', 'sheet'] as const;
export type SourceKind = (typeof sourceKinds)[number];

/** The outcomes whose rows a redial may call again. */
export const redialOutcomes = ['no_answer', 'busy', 'voicemail', 'failed'] as const satisfies RowOutcome[];
type RedialOutcome = (typeof redialOutcomes)[number];

/** A selection of another campaign's rows. */
export interface Redial {
  campaign_id: number;
  outcomes: RedialOutcome[];
}

/** With `redial`, the rows come from another campaign, not from the source. */
export type StoredSourceOptions = SourceOptions & { redial?: Redial };
