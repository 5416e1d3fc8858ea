import { Presets, SingleBar } from 'cli-progress';
import type { Finding, FuzzOutcome } from './run-fuzz.ts';
import { operations } from './operations.ts';

export interface Progress {
  update: (done: number) => void;
  note: (text: string) => void;
  stop: () => void;
}

const lineEveryMs = 10_000;

/** A bar at a terminal; in a log, and in CI, a line now and then. */
export function showProgress(total: number): Progress {
  if (!process.stdout.isTTY || process.env['CI']) {
    let dueAt = Date.now() + lineEveryMs;
    return {
      update: (done) => {
        if (Date.now() < dueAt) return;
        dueAt = Date.now() + lineEveryMs;
        console.log(`${done} of ${total} requests sent`);
      },
      note: (text) => console.log(text),
      stop: () => {},
    };
  }
  const bar = new SingleBar(
    { format: '{bar} {percentage}% | {value} of {total} requests | {eta_formatted} left', stream: process.stdout },
    Presets.shades_classic,
  );
  bar.start(total, 0);
  return { update: (done) => bar.update(done), note: (text) => process.stdout.write(`\r\u001b[K${text}\n`), stop: () => bar.stop() };
}

export const findingText = ({ number, fault, request, answer }: Finding): string =>
  [`Finding: request ${number}: ${fault}`, ...`${request}\n\n-> ${answer}`.split('\n').map((line) => `    ${line}`)].join('\n');

const shownMissing = (reached: Set<string>): string =>
  operations
    .map(({ id }) => id)
    .filter((id) => !reached.has(id))
    .join(', ');

/** The figures of an attack, the last line with what was found. */
export function formatSummary(
  { requests, findings, slowest, slowOnce, statuses, reached }: FuzzOutcome,
  seed: number,
  seconds: number,
): string[] {
  const counted = Object.entries(statuses).toSorted(([one], [other]) => one.localeCompare(other));
  return [
    `Statuses: ${counted.map(([status, count]) => `${status}: ${count}`).join(', ')}`,
    `Operations: ${operations.length}, of which ${reached.size} did what they are for${reached.size === operations.length ? '' : `; not ${shownMissing(reached)}`}`,
    `Slowest: ${slowest.ms} ms, request ${slowest.number}, ${slowest.request.slice(0, 120)}`,
    `Slow once, and quick when asked again alone: ${slowOnce}`,
    `${requests} requests of seed ${seed} in ${seconds} s, ${findings.length} findings`,
  ];
}
