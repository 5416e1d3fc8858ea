import { readdirSync, readFileSync } from 'node:fs';

/** What Linux counts processor time in, for programs. */
const ticksPerSecond = 100;

/** Processor time that the workerd which this program has started has used so far; not a number where there is no /proc. */
export function workerdSeconds(): number {
  for (const id of processes()) {
    const [, name, rest] = /^\d+ \((.*)\) (.*)$/s.exec(statusOf(id)) ?? [];
    // From the third on: state, parent, and further on the ticks in user and in system mode.
    const fields = rest?.split(' ') ?? [];
    if (name === 'workerd' && Number(fields[1]) === process.pid) return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  }
  return Number.NaN;
}

function processes(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** Empty when the process has just gone. */
function statusOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/stat`, 'utf8');
  } catch {
    return '';
  }
}
