import type { FailedCheck } from './failed-checks.ts';
import type { Statistics } from './load-tests.ts';
import { countEnds } from './progress.ts';
import { percent } from './verdict.ts';

const maxShown = 10;

/** The results of a load test, in lines. */
export function formatSummary(statistics: Statistics, concurrency: number, checks: FailedCheck[]): string[] {
  const { pass_rate: passRate, duration_seconds: duration, turn_latency_ms: latency } = statistics;
  const ends = Object.entries(countEnds(statistics)).map(([name, count]) => [name, String(count)]);
  const average = statistics.achieved_concurrency_average ?? 0;
  return [
    ...table([...ends, ['pass rate', passRate === null ? 'none' : percent(passRate)]]),
    '',
    ...table([
      ['', 'p50', 'p95', 'p99'],
      ['duration', ...[duration.p50, duration.p95, duration.p99].map((seconds) => inUnit(seconds, 's'))],
      ['turn latency', ...[latency.p50, latency.p95, latency.p99].map((ms) => inUnit(ms, 'ms'))],
    ]),
    `concurrency: ${average} on average and ${statistics.achieved_concurrency_max} at the most, of ${concurrency}`,
    ...section('Checks that did not hold', checkLines(checks), checks.length),
    ...section('Errors, which count for nothing', errorLines(statistics), statistics.errors.length),
  ];
}

const inUnit = (value: number | null, unit: string): string => (value === null ? '-' : `${Number(value.toPrecision(3))} ${unit}`);

const checkLines = (checks: FailedCheck[]): string[] =>
  table([
    ['check', 'failed', 'undecided', 'such as session'],
    ...checks
      .slice(0, maxShown)
      .map(({ name, required, failed, undecided, sessionId }) => [
        required ? name : `${name} (advisory)`,
        String(failed),
        String(undecided),
        String(sessionId),
      ]),
  ]);

const errorLines = ({ errors, sessions }: Statistics): string[] =>
  errors.slice(0, maxShown).map(({ error, count }) => {
    const session = sessions.find((one) => one.error === error);
    return `  ${count} times, such as session ${session?.test_session_id}: ${error}`;
  });

function section(title: string, lines: string[], count: number): string[] {
  if (count === 0) return [];
  return ['', `${title}:`, ...lines, ...(count > maxShown ? [`  and ${count - maxShown} more`] : [])];
}

/** The first column to the left, the others to the right. */
function table(rows: string[][]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) => {
    const cells = row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)));
    return `  ${cells.join('  ')}`.trimEnd();
  });
}
