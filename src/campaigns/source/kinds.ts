import type { RowOutcome } from '../../calls/attempt/outcomes.ts';
import type { SourceOptions } from './options.ts';

export const sourceKinds = ['csv', 'contact_list', 'sheet'] as const;
export type SourceKind = (typeof sourceKinds)[number];

/** Outcomes of rows that may be called once more by a campaign made from an ended one. */
export const redialOutcomes = ['no_answer', 'busy', 'voicemail', 'failed'] as const satisfies RowOutcome[];
export type RedialOutcome = (typeof redialOutcomes)[number];

/** Rows of another campaign. */
export interface Redial {
  campaign_id: number;
  outcomes: RedialOutcome[];
}

/** With `redial`, the rows are those of another campaign and not those of the source. */
export type StoredSourceOptions = SourceOptions & { redial?: Redial };
