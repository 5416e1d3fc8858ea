import { Presets, SingleBar } from 'cli-progress';

export interface Progress {
  update: (rows: number) => void;
  note: (line: string) => void;
  stop: () => void;
}

/** A bar at a terminal, plain lines in a log. */
export function showProgress(total: number): Progress {
  if (!process.stdout.isTTY) {
    return { update: (rows) => console.log(`${rows} of ${total} rows sent`), note: (line) => console.log(line), stop: () => {} };
  }
  const bar = new SingleBar(
    { format: '{bar} {percentage}% | {value} of {total} rows | {eta_formatted} left', stream: process.stdout },
    Presets.shades_classic,
  );
  bar.start(total, 0);
  return {
    update: (rows) => bar.update(rows),
    note: (line) => process.stdout.write(`\r\u001b[K${line}\n`),
    stop: () => bar.stop(),
  };
}
