import { isTerminal } from '../../src/campaigns/rows/row-states.ts';
import { applyReport } from '../../src/campaigns/rows/apply-report.ts';
import type { ReportEffect, EndReason } from '../../src/campaigns/rows/apply-report.ts';
import { parseRowAttemptKey } from '../../src/campaigns/rows/attempt-keys.ts';
import type { RowWindows } from '../../src/campaigns/dialing/calling-windows.ts';
import type { AttemptReport } from '../../src/calls/contract.ts';
import type { DialRequests } from './dial-requests.ts';
import { toCallKey } from './circuit-breaker-store.ts';
import type { CircuitBreakerStore } from './circuit-breaker-store.ts';
import type { Campaign } from './campaign-store.ts';
import type { RowStore } from './row-store.ts';

const contactDeleted: EndReason = { word: 'contact_deleted', because: 'the contact was deleted' };

/** Writes what reports change of the rows; answers the first reason why the campaign must pause. Call in a transaction. */
export function applyReports(
  reports: AttemptReport[],
  { rows, asking, breaker }: { rows: RowStore; asking: DialRequests; breaker: CircuitBreakerStore },
  { campaign, windows, now, random }: { campaign: Campaign; windows: RowWindows; now: number; random: () => number },
): ReportEffect['pause'] {
  let pause: ReportEffect['pause'] = null;
  for (const report of reports) {
    const name = parseRowAttemptKey(campaign.id, report.key);
    const row = name && rows.find(name.rowNumber);
    if (!row || row.attempt !== name.attempt || isTerminal(row.state)) continue;
    const after = applyReport(row, report, {
      retry: { retry: campaign.configs.retry_config, windowAt: (moment) => windows.at(row.timeZoneGroup, moment) },
      now,
      random,
      isRunning: campaign.state === 'running',
      ending: campaign.ending ?? (asking.isContactDeleted(row.number) ? contactDeleted : null),
    });
    if (!after) continue;
    rows.write(row.number, after.row);
    if (after.isOver) {
      if (asking.isContactDeleted(row.number)) rows.clearPhone(row.number);
      asking.remove(row.number);
    }
    // It may have been given back before this word of it came.
    else if (after.row.dueAt === null) asking.add(row.number, campaign.batch);
    if (after.ended) {
      const { at, isFailure, outcome } = after.ended;
      const key = toCallKey(row.number, row.attempt);
      const call = { key, endedAt: at, isFailure, rowNumber: row.number, outcome, reason: after.row.reason, attempt: row.attempt };
      breaker.count(campaign, call, now);
    }
    pause ??= after.pause;
  }
  return pause;
}

/** Ends the rows of a contact that is gone, as far as they are not in a call; answers whether the slots have one of them. */
export function removeContact(contactId: number, { rows, asking }: { rows: RowStore; asking: DialRequests }): boolean {
  const found = rows.findByContact(contactId);
  for (const { number, state, isAsked } of found) {
    if (isAsked) asking.markContactDeleted(number);
    else if (!isTerminal(state)) rows.end(number, 'skipped', `${contactDeleted.word}: ${contactDeleted.because}`);
    rows.clearVariables(number);
    // A call that is out is dialled or withdrawn by its number.
    if (!isAsked) rows.clearPhone(number);
  }
  return found.some(({ isAsked }) => isAsked);
}
