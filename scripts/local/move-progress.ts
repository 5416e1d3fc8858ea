import { Presets, SingleBar } from 'cli-progress';
import type { MoveProgress } from './watch-move.ts';

const note = (line: string) => process.stdout.write(`${process.stdout.isTTY ? '\r\u001b[K' : ''}${line}\n`);

/** A bar at a terminal, plain lines in a log. */
export function showMoveProgress(): MoveProgress {
  if (!process.stdout.isTTY) {
    let last = '';
    const copied = (passages: number, of: number) => {
      const line = `${passages} of ${of} passages copied`;
      if (line !== last) note(line);
      last = line;
    };
    return { copied, note, stop: () => {} };
  }
  const bar = new SingleBar(
    { format: '{bar} {percentage}% | {value} of {total} passages copied', stream: process.stdout },
    Presets.shades_classic,
  );
  return {
    copied: (passages, of) => {
      if (!bar.isActive) bar.start(of, 0);
      bar.setTotal(of);
      bar.update(passages);
    },
    note,
    stop: () => bar.stop(),
  };
}
