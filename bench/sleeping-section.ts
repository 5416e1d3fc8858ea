import type { Idle, Sleep } from './cases/sleeping.ts';
import { table } from './table.ts';

const milliseconds = (value: number) => (Number.isNaN(value) ? 'unknown' : value.toFixed(1));

/** What runs cost while they sleep. */
export function sleepingSection({ runs, seconds, startedPerSecond, without, with: withThem }: Sleep): string[] {
  const line = (name: string, of: (idle: Idle) => string) => [name, of(without), of(withThem)];
  return [
    `${runs} runs that sleep, over ${seconds} s with one minute tick (${startedPerSecond.toFixed(0)} a second were started):`,
    '',
    ...table(
      ['in that time', 'without them', 'with them'],
      [
        line('processor time of workerd, ms a second', ({ millisecondsPerSecond }) => milliseconds(millisecondsPerSecond)),
        line('alarms fired', ({ alarmsFired }) => String(alarmsFired)),
        line('calls of the tick to D1', ({ tickCalls }) => String(tickCalls)),
        line('D1 rows read by the tick', ({ tickRowsRead }) => String(tickRowsRead)),
      ],
    ),
  ];
}
