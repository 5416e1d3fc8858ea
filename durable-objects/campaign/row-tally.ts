import { rowOutcomes, type RowOutcome } from '../../src/calls/attempt/outcomes.ts';
import { rowStates, type RowState, type Tally } from '../../src/campaigns/rows/row-states.ts';

export interface StoredTally {
  rows: Tally;
  outcomes: Record<RowOutcome, number>;
  attempts: number;
}

/** What is counted of a row. */
export interface TalliedRow {
  state: RowState;
  outcome: RowOutcome | null;
  attempts: number;
}

const columns = [...rowStates, ...rowOutcomes.map((outcome) => `outcome_${outcome}` as const), 'attempts'] as const;
type Counts = Record<(typeof columns)[number], number>;

/**
 * How many rows of a campaign are in each state, how many of the dialled ones have each outcome, and the sum of attempts: the row of `tally`.
 * A transaction that moves many rows writes it once.
 */
export class RowTally {
  readonly #sql: SqlStorage;
  #counts: Counts | null = null;
  #hasChanged = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  read(): StoredTally {
    const counts = this.#current();
    const part = <Name extends string>(names: readonly Name[], prefix = '') =>
      Object.fromEntries(names.map((name) => [name, counts[`${prefix}${name}` as keyof Counts]])) as Record<Name, number>;
    return { rows: part(rowStates), outcomes: part(rowOutcomes, 'outcome_'), attempts: counts.attempts };
  }

  /** Counts a row that was `before` and is `after`; null: there was none. */
  move(before: TalliedRow | null, after: TalliedRow): void {
    const counts = this.#current();
    if (before) add(counts, before, -1);
    add(counts, after, 1);
    this.#hasChanged = true;
  }

  /** Writes what has changed. Call it in the transaction of the changes. */
  save(): void {
    if (!this.#hasChanged) return;
    const counts = this.#current();
    this.#sql.exec(`UPDATE tally SET ${columns.map((column) => `${column} = ?`).join(', ')}`, ...columns.map((column) => counts[column]));
    this.#hasChanged = false;
  }

  /** After a transaction that failed: what was counted in it is not so. */
  forget(): void {
    this.#counts = null;
    this.#hasChanged = false;
  }

  #current(): Counts {
    return (this.#counts ??= this.#sql.exec<Counts>('SELECT * FROM tally').one());
  }
}

function add(counts: Counts, { state, outcome, attempts }: TalliedRow, sign: 1 | -1): void {
  counts[state] += sign;
  if (outcome !== null) counts[`outcome_${outcome}`] += sign;
  counts.attempts += sign * attempts;
}
