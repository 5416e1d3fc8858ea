import { givenUpPrefix } from '../../../library/given-up-prefix.ts';
import type { Journal } from './journal.ts';
import { isLive } from '../../run-states.ts';
import { failRun } from './step-result.ts';

const minRetryDelayMs = 60_000;
const maxRetryDelayMs = 3_600_000;

/**
 * Notes that a run cannot go on although no step of it has failed, as when what it started from is gone. Answers when it is to try again, epoch
 * ms; null: it has failed with the reason, after so many hours or at its deadline, or had ended.
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
  const nextTryAt = now + Math.min(maxRetryDelayMs, minRetryDelayMs * 2 ** tries);
  journal.commit({ ...progress, failing: { since, tries: tries + 1, nextTryAt } });
  return nextTryAt;
}
