import type { TestConfig } from '../config/config.ts';
import type { StopReason } from '../contract.ts';
import type { Sides, Turn } from './turn-order.ts';

/** Why the conversation is over; null: it goes on. The first reason counts. `elapsedMs` is the time since the start. */
export function findStopReason(
  { max_turns, max_duration_seconds }: Pick<TestConfig, 'max_turns' | 'max_duration_seconds'>,
  turns: readonly Turn[],
  sides: Sides,
  elapsedMs: number,
): StopReason | null {
  for (const speaker of ['actor', 'adversary'] as const) {
    const end = sides[speaker].state?.end;
    if (end) return end.reason === 'error' ? 'error' : `${speaker}_ended`;
  }
  // Turns alternate: the last turn and the third last one are of the same side.
  if (turns.at(-1)?.wasSilent && turns.at(-3)?.wasSilent) return 'silence';
  if (turns.length >= max_turns) return 'max_turns';
  return elapsedMs >= max_duration_seconds * 1000 ? 'max_duration' : null;
}
