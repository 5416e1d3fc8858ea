import type { Chart, Results } from './charts.ts';

/** The page of docs with the charts. */
export const performancePage = ({ measured_at, commit, cores }: Results, charts: Chart[]): string =>
  [
    '# Performance',
    '',
    '`npm run bench` writes this page and its charts. It measures the service on one machine, where everything shares one thread: absolute figures say',
    'little about Cloudflare, ratios and counts are what to compare. [How each figure is measured](../bench/README.md) is told there, and',
    '[all figures](../bench/results/latest.md) are in one file.',
    '',
    `Measured on ${measured_at.slice(0, 10)} at commit ${commit}, on ${cores} cores.`,
    ...charts.flatMap(({ title, file, about }) => ['', `## ${title}`, '', about, '', `![${title}](performance/${file})`]),
    '',
    '## Beside other programs on your machine',
    '',
    '`npm run bench -- peers` installs n8n and two vector searches into `bench/peers/`, runs them in turn with the service, and prints both. A full run with',
    '`npm run bench -- --peers` adds their chart to this page.',
    '',
    '## What is not allowed to grow',
    '',
    'The counts behind the dollars are in `bench/account/counts.json`. A test fails when a change makes the service use more of anything; `npm run costs`',
    'prints the table of all operations. [How they grow](../bench/results/growth.md) with 100 times the data is counted by `npm run growth`.',
    '',
  ].join('\n');
