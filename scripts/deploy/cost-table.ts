/** What a table of costs takes from `bench/results/latest.json`; prices are those that Cloudflare published, beyond what the plan includes. */
export interface MeasuredCosts {
  measured_at: string;
  commit: string;
  run_cost: { dollarsPerMillion: { before: number; run: number } };
  row_costs: { kind: string; dollarsPerMillion: number }[];
}

const dollars = (amount: number) => `$${amount < 10 ? amount.toFixed(2) : amount.toFixed(0)}`;

/** A Markdown table: dollars for a million of each, and for 10,000. */
export function costTable({ measured_at: at, commit, run_cost: run, row_costs: rows }: MeasuredCosts): string {
  const lines: [what: string, dollarsPerMillion: number][] = [
    ['a webhook taken in, up to its run', run.dollarsPerMillion.before],
    ['a run of six nodes with its history', run.dollarsPerMillion.run],
    ...rows.map(({ kind, dollarsPerMillion }): [string, number] => [`a campaign's row: ${kind}`, dollarsPerMillion]),
  ];
  return [
    `Measured ${at.slice(0, 10)} at ${commit}, without what carriers and language models cost:`,
    '',
    '| What | A million | 10,000 |',
    '|---|---|---|',
    ...lines.map(([what, perMillion]) => `| ${what} | ${dollars(perMillion)} | ${dollars(perMillion / 100)} |`),
  ].join('\n');
}

const begin = '<!-- costs: made by "npm run generate" from bench/results/latest.json -->\n';
const end = '<!-- /costs -->';

/** `page` with the table between its marks. */
export function withCostTable(page: string, costs: MeasuredCosts): string {
  const [before, rest] = page.split(begin);
  if (rest === undefined || !rest.includes(end)) throw new Error('docs/deploying.md has lost the marks of its costs');
  return `${before}${begin}${costTable(costs)}\n${end}${rest.slice(rest.indexOf(end) + end.length)}`;
}
