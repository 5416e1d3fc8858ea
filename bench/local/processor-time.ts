import { readdirSync, readFileSync } from 'node:fs';

/** Linux reports processor time to programs in these ticks. */
const ticksPerSecond = 100;

/** Processor time that the workerd which this program has started has used so far; not a number where there is no /proc. */
export function workerdSeconds(): number {
  const id = workerdId();
  const fields = id === null ? [] : fieldsOf(id).fields;
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** The process of the workerd which this program has started, the last one of several; null where there is no /proc. */
export function workerdId(): string | null {
  const started = processes()
    .map((id) => Object.assign(fieldsOf(id), { id }))
    .filter(({ name, fields }) => name === 'workerd' && Number(fields[1]) === process.pid)
    .toSorted((one, other) => Number(one.fields[startedAt]) - Number(other.fields[startedAt]));
  return started.at(-1)?.id ?? null;
}

const startedAt = 19;

/** `fields` from the third on: state, parent, and further on the ticks in user and in system mode. */
function fieldsOf(id: string): { name: string; fields: string[] } {
  const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(statusOf(id)) ?? [];
  return { name, fields: rest.split(' ') };
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
