import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDirectory } from '../../scripts/local/settings.ts';
import { readCountedAccount } from '../account/counted-account.ts';
import { drawCharts, type Results } from './charts.ts';
import { performancePage } from './page.ts';

/** Draws the charts of the latest results and of the counted costs, and writes the page of docs that shows them. */
export function writePerformancePage(): void {
  const results = JSON.parse(readFileSync(join(projectDirectory, 'bench', 'results', 'latest.json'), 'utf8')) as Results;
  const docs = join(projectDirectory, 'docs');
  mkdirSync(join(docs, 'performance'), { recursive: true });
  const charts = drawCharts(results, readCountedAccount());
  for (const { file, svg } of charts) writeFileSync(join(docs, 'performance', file), svg);
  writeFileSync(join(docs, 'performance.md'), performancePage(results, charts));
}
