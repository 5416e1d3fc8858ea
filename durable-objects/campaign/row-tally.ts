import { rowOutcomes, type RowOutcome } from '../../src/calls/attempt/outcomes.ts';
import { emptyTally, type RowState, type Tally } from '../../src/campaigns/rows/row-states.ts';

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

/**
 * How many rows of a campaign are in each state, how many of the dialled ones have each outcome, and the sum of attempts. It is counted once
 * after the object was loaded, then kept in memory: a change of a row writes that row alone.
 */
export class RowTally {
  readonly #sql: SqlStorage;
  #tally: StoredTally | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  read(): StoredTally {
    const { rows, outcomes, attempts } = (this.#tally ??= this.#count());
    return { rows: { ...rows }, outcomes: { ...outcomes }, attempts };
  }

  isCounted(): boolean {
    return this.#tally !== null;
  }

  /** Counts a row that was `before` and is `after`; null: there was none. */
  move(before: TalliedRow | null, after: TalliedRow): void {
    if (!this.#tally) return;
    if (before) add(this.#tally, before, -1);
    add(this.#tally, after, 1);
  }

  /** After a transaction that failed, or a change of many rows: the rows are counted again. */
  forget(): void {
    this.#tally = null;
  }

  #count(): StoredTally {
    const tally: StoredTally = {
      rows: emptyTally(),
      outcomes: Object.fromEntries(rowOutcomes.map((outcome) => [outcome, 0])) as Record<RowOutcome, number>,
      attempts: 0,
    };
    const groups = this.#sql.exec<TalliedRow & Record<string, SqlStorageValue> & { count: number }>(
      'SELECT state, outcome, sum(attempts) AS attempts, count(*) AS count FROM campaign_row GROUP BY state, outcome',
    );
    for (const { state, outcome, attempts, count } of groups) {
      tally.rows[state] += count;
      if (outcome !== null) tally.outcomes[outcome] += count;
      tally.attempts += attempts;
    }
    return tally;
  }
}

function add(tally: StoredTally, { state, outcome, attempts }: TalliedRow, sign: 1 | -1): void {
  tally.rows[state] += sign;
  if (outcome !== null) tally.outcomes[outcome] += sign;
  tally.attempts += sign * attempts;
}
