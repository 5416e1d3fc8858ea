import { isEnd } from '../../src/campaigns/row-states.ts';
import { afterReport } from '../../src/campaigns/rows/after-report.ts';
import type { AfterReport, Ending } from '../../src/campaigns/rows/after-report.ts';
import { rowOfKey } from '../../src/campaigns/rows/attempts.ts';
import type { RowWindows } from '../../src/campaigns/rows/row-windows.ts';
import type { AttemptReport } from '../../src/voice-agents/dialing/contract.ts';
import type { Asking } from './asking.ts';
import { callKey } from './breaker.ts';
import type { StoredBreaker } from './breaker.ts';
import type { Campaign } from './stored-campaign.ts';
import type { StoredRows } from './stored-rows.ts';

const contactGone: Ending = { word: 'contact_deleted', because: 'the contact was deleted' };

/** Writes what reports change of the rows; answers the first reason why the campaign must pause. Call in a transaction. */
export function takeIn(
  reports: AttemptReport[],
  { rows, asking, breaker }: { rows: StoredRows; asking: Asking; breaker: StoredBreaker },
  { campaign, windows, now, random }: { campaign: Campaign; windows: RowWindows; now: number; random: () => number },
): AfterReport['pause'] {
  let pause: AfterReport['pause'] = null;
  for (const report of reports) {
    const name = rowOfKey(campaign.id, report.key);
    const row = name && rows.find(name.rowNumber);
    if (!row || row.attempt !== name.attempt || isEnd(row.state)) continue;
    const after = afterReport(row, report, {
      retry: { retry: campaign.configs.retry_config, windowAt: (moment) => windows.at(row.lane, moment) },
      now,
      random,
      isRunning: campaign.state === 'running',
      ending: campaign.ending ?? (asking.isContactGone(row.number) ? contactGone : null),
    });
    if (!after) continue;
    rows.write(row.number, after.row);
    if (after.isOver) {
      if (asking.isContactGone(row.number)) rows.forgetPhone(row.number);
      asking.forget(row.number);
    }
    // It may have been given back before this word of it came.
    else if (after.row.dueAt === null) asking.remember(row.number, campaign.portion);
    if (after.ended) {
      const { at, isFailure, outcome } = after.ended;
      const key = callKey(row.number, row.attempt);
      const call = { key, endedAt: at, isFailure, rowNumber: row.number, outcome, reason: after.row.reason, attempt: row.attempt };
      breaker.count(campaign, call, now);
    }
    pause ??= after.pause;
  }
  return pause;
}

/** Ends the rows of a contact that is gone, as far as they are not in a call; answers whether the slots have one of them. */
export function takeOut(contactId: number, { rows, asking }: { rows: StoredRows; asking: Asking }): boolean {
  const found = rows.ofContact(contactId);
  for (const { number, state, isAsked } of found) {
    if (isAsked) asking.markContactGone(number);
    else if (!isEnd(state)) rows.end(number, 'skipped', `${contactGone.word}: ${contactGone.because}`);
    rows.forgetVariables(number);
    // A call that is out is dialled or withdrawn by its number.
    if (!isAsked) rows.forgetPhone(number);
  }
  return found.some(({ isAsked }) => isAsked);
}
