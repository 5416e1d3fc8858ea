import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mapCounts } from '../../bench/account/operations.ts';
import { barChart } from '../../bench/charts/bar-chart.ts';
import { drawCharts, type Results } from '../../bench/charts/charts.ts';
import { performancePage } from '../../bench/charts/page.ts';

const results: Results = {
  measured_at: '2026-11-29T10:00:00.000Z',
  commit: 'abc1234',
  cores: 2,
  results: [{ case: 'POST /events', ratio: 0.5, ratio_of: 'per_second', service: { per_second: 50 }, floor: { per_second: 100 } }],
  knowledge: [],
};
const counts = { 'An event': { ...mapCounts(() => 0), d1_rows_written: 7 } };

test('bars are as long as their share of the longest one or of the mark', () => {
  const svg = barChart('Shares', [{ name: 'a < b', bars: [{ value: 0.5, kind: 'ours' }], label: '50 %' }], 1);
  expect(svg).toContain('width="165" height="8"');
  expect(svg).toContain('a &lt; b');
  expect(svg).toContain('<line x1="760"');
});

test('there is a chart for each kind of figures that there are, and the page shows each', () => {
  const charts = drawCharts(results, counts);
  expect(charts.map(({ file }) => file)).toEqual(['rates.svg', 'costs.svg']);
  const page = performancePage(results, charts);
  for (const { file } of charts) expect(page).toContain(`(performance/${file})`);
  const peers = [{ name: 'Runs', unit: 'MB', service: 1, floor: 2 }];
  expect(drawCharts({ ...results, peers }, counts).at(-1)!.svg).toContain('1 and 2 MB');
});

test('the committed page is the one that the benchmark writes', () => {
  const latest = JSON.parse(readFileSync('bench/results/latest.json', 'utf8')) as Results;
  expect(readFileSync('docs/performance.md', 'utf8')).toContain(`at commit ${latest.commit}`);
});
