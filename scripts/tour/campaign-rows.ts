/** What the tour reads of a row of a campaign. */
export interface CampaignRow {
  row_number: number;
  phone: string;
  state: string;
  outcome: string | null;
  reason: string | null;
  attempts: number;
  run_ids: number[];
  variables: Record<string, string>;
}

/** How the rows of `examples/campaign.csv` end, since the simulated carrier goes by the last four digits: state, and outcome or reason. */
const expected: [state: string, why: RegExp][] = [
  ['completed', /^completed$/],
  ['completed', /^completed$/],
  ['completed', /^completed$/],
  ['completed', /^completed$/],
  ['failed', /^busy$/],
  ['failed', /^no_answer$/],
  ['failed', /^failed$/],
  ['failed', /^voicemail$/],
  ['skipped', /^duplicate: /],
  ['failed', /n\/a/],
  ['skipped', /^suppressed: /],
];

/** Why the rows are not what the file asks for, one sentence each. */
export function findRowProblems(rows: CampaignRow[]): string[] {
  if (rows.length !== expected.length) return [`the campaign has ${rows.length} rows instead of ${expected.length}`];
  return rows.flatMap((row) => {
    const [state, why] = expected[row.row_number - 1]!;
    const isGood = row.state === state && why.test(row.outcome ?? row.reason ?? '');
    return isGood
      ? []
      : [`row ${row.row_number} (${row.phone}) is ${row.state} (${row.outcome ?? row.reason}) instead of ${state} (${why.source})`];
  });
}

/** Counts of a campaign's progress in a line, without what is zero: `2 in call, 3 completed of 11 rows`. */
export function describeCounts(rows: Record<string, number>): string {
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  const nonZero = Object.entries(rows).filter(([, count]) => count > 0);
  return `${nonZero.map(([state, count]) => `${count} ${state.replace('_', ' ')}`).join(', ') || 'nothing yet'} of ${total} rows`;
}
