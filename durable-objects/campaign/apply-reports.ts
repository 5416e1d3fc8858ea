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

/** Applies reports to their rows and returns the first reason to pause the campaign. Call in a transaction. */
export function applyReports(
  reports: AttemptReport[],
  { rows, requests, breaker }: { rows: RowStore; requests: DialRequests; breaker: CircuitBreakerStore },
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
      ending: campaign.ending ?? (requests.isContactDeleted(row.number) ? contactDeleted : null),
    });
    if (!after) continue;
    rows.write(row.number, after.row);
    if (after.isOver) {
      if (requests.isContactDeleted(row.number)) rows.clearPhone(row.number);
      requests.remove(row.number);
    }
    // The slots have the attempt after all: a report that they gave it back may have come first.
    else if (after.row.dueAt === null) requests.add(row.number, campaign.batch);
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

/** Ends the rows of a deleted contact that the call slots do not have. Returns whether the slots have one. */
export function removeContact(contactId: number, { rows, requests }: { rows: RowStore; requests: DialRequests }): boolean {
  const contactRows = rows.findByContact(contactId);
  for (const { number, state, isRequested } of contactRows) {
    if (isRequested) requests.markContactDeleted(number);
    else if (!isTerminal(state)) rows.end(number, 'skipped', `${contactDeleted.word}: ${contactDeleted.because}`);
    rows.clearVariables(number);
    // The slots dial or withdraw a requested call by its phone number.
    if (!isRequested) rows.clearPhone(number);
  }
  return contactRows.some(({ isRequested }) => isRequested);
}
