import { givenUpPrefix } from '../../outbox/failed-messages.ts';
import type { StuckRow } from '../kinds.ts';

/** How the rows of one kind that stand still are read. */
export interface Source {
  /** The columns of `StuckRow` that are not null, by name. */
  columns: Partial<Record<keyof StuckRow, string>>;
  /** The rows `r` of the organization `?1`, which go along one index in this order. */
  from: string;
  /** By id alone, or by the moment `at` first. */
  order: 'id' | 'moment';
}

/** Whether the handling of the row `r` was given up. */
export const isGivenUpSql = `substr(r.note, 1, ${givenUpPrefix.length}) = '${givenUpPrefix}'`;
