import { backoffMs } from '../../../library/backoff.ts';
import { givenUpPrefix } from '../../../outbox/failed-messages.ts';
import type { Journal } from './journal.ts';
import { isLive } from '../../run-states.ts';
import { failRun } from './step-result.ts';

const retryBackoff = { baseMs: 60_000, maxMs: 3_600_000 };

/**
 * Schedules another try of a run that cannot go on although no step of it failed: its start payload is missing, or its row cannot be read.
 * After `giveUpAfterHours`, or at the deadline, the run fails with the reason. Answers the epoch ms of the next try; null when the run has
 * ended.
 */
export function retryOrFailRun(
  journal: Journal,
  reason: string,
  { now, deadline, giveUpAfterHours }: { now: number; deadline: number | null; giveUpAfterHours: number },
): number | null {
  const progress = journal.progress();
  if (!isLive(progress.state)) return null;
  const { since, tries } = progress.failing ?? { since: now, tries: 0 };
  if (now - since >= giveUpAfterHours * 3_600_000 || (deadline !== null && now >= deadline)) {
    const message = `${givenUpPrefix} the run could not go on in ${tries + 1} tries: ${reason}`;
    failRun(journal, { ...progress, failing: undefined }, { type: 'cannot_go_on', message }, now);
    return null;
  }
  const nextTryAt = now + backoffMs(retryBackoff, tries + 1, () => 0);
  journal.commit({ ...progress, failing: { since, tries: tries + 1, nextTryAt } });
  return nextTryAt;
}
