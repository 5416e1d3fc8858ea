import type { Bench } from '../../bench.ts';
import type { Unit } from '../account.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;

/** The minute tick before there is anything. Some of its work is done at certain minutes of an hour, so it always begins at the same. */
export async function tickUnits({ clients }: Bench): Promise<Unit[]> {
  let at = Math.floor(Date.now() / hourMs) * hourMs + 30 * minuteMs;
  const tick = () => clients.recording.call({ method: 'GET', path: `/tick?at=${(at += minuteMs)}` });
  return [{ name: 'A minute tick with nothing to do', work: tick }];
}
