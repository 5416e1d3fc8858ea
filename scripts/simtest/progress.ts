import { Presets, SingleBar } from 'cli-progress';
import type { Statistics } from './load-tests.ts';

export interface Progress {
  update: (statistics: Statistics) => void;
  note: (line: string) => void;
  stop: () => void;
}

const lineEveryMs = 10_000;

/** Sessions that have ended, and how. */
export const countEnds = ({ completed, passed, failed, stopped }: Statistics) => ({
  passed,
  failed: completed - passed,
  error: failed,
  stopped,
});

/** A bar at a terminal; in a log, and in CI, a line now and then. */
export const showProgress = (): Progress => (process.stdout.isTTY && !process.env['CI'] ? bar() : lines());

function bar(): Progress {
  const drawn = new SingleBar(
    {
      format: '{bar} {value} of {total} ended, {running} running | {passed} passed, {failed} failed, {error} errors | {duration_formatted}',
      stream: process.stdout,
    },
    Presets.shades_classic,
  );
  return {
    update: (statistics) => {
      if (!drawn.isActive) drawn.start(statistics.total, 0, shown(statistics));
      drawn.update(endedOf(statistics), shown(statistics));
    },
    note: (line) => process.stdout.write(`\r\u001b[K${line}\n`),
    stop: () => drawn.stop(),
  };
}

const shown = (statistics: Statistics) => ({ ...countEnds(statistics), running: statistics.running });

function lines(): Progress {
  let dueAt = 0;
  return {
    update: (statistics) => {
      if (Date.now() < dueAt) return;
      dueAt = Date.now() + lineEveryMs;
      const { passed, failed, error } = countEnds(statistics);
      const ends = `${passed} passed, ${failed} failed, ${error} errors`;
      console.log(`${endedOf(statistics)} of ${statistics.total} ended, ${statistics.running} running: ${ends}`);
    },
    note: (line) => console.log(line),
    stop: () => {},
  };
}

const endedOf = ({ completed, failed, stopped }: Statistics): number => completed + failed + stopped;
