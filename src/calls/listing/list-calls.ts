import type { Context } from '../../context.ts';
import { parseRangeEnd, parseRangeStart } from '../../http/date-range.ts';
import { decodeCursor, type PageResult } from '../../http/pagination.ts';
import { readQueryOwnNumber, readQueryPhone } from '../../http/query-phone.ts';
import { invalidAt } from '../../library/errors.ts';
import type { CallFilter } from './call-filter.ts';
import { toCallRecord } from './call-record.ts';
import { findCallRows, findCountedCallsPage } from './call-store.ts';
import { toCallMatch } from './call-words.ts';
import type { CallExportQuery, CallQuery, CallRecord } from './schemas.ts';

/** How many calls a page looks at; fewer where full-text search is asked about each. */
const maxExamined = 5000;
const maxExaminedForWords = 1000;

/** A page of the organization's calls. `apiUrl` as in `toCallRecord`. Throws 422 for a phone number or a text that cannot be searched. */
export async function listCalls(context: Context, apiUrl: string, query: CallQuery): Promise<PageResult<CallRecord>> {
  const filter = toCallFilter(context, query);
  const found = await findCountedCallsPage(context.database, context.organization.id, {
    filter,
    sort: query.sort,
    limit: query.limit,
    offset: query.offset,
    after: decodeCursor(query.cursor),
    maxExamined: filter.match === undefined ? maxExamined : maxExaminedForWords,
  });
  return { ...found, rows: found.rows.map((row) => toCallRecord(apiUrl, row)) };
}

/** The filter of a request. Throws 422. */
export function toCallFilter(context: Context, query: CallQuery | CallExportQuery): CallFilter {
  const { defaultCountry } = context.organization;
  return {
    agentId: query.workflow_id,
    campaignId: query.campaign_id,
    journeyId: query.automation_workflow_id,
    journeyRunId: query.automation_run_id,
    contactId: query.contact_id,
    phone: query.phone === undefined ? undefined : readQueryPhone(query.phone, defaultCountry),
    ownNumber: query.own_number === undefined ? undefined : readQueryOwnNumber(query.own_number, defaultCountry),
    direction: query.direction,
    status: query.status,
    outcome: query.outcome,
    disposition: query.disposition,
    from: query.start_date === undefined ? undefined : parseRangeStart(query.start_date),
    to: query.end_date === undefined ? undefined : parseRangeEnd(query.end_date),
    // Of a live call nobody knows how long it will last.
    minTalkSeconds: query.min_talk_seconds === undefined ? undefined : Math.max(1, query.min_talk_seconds),
    match: query.text ? parseText(context, query.text) : undefined,
  };
}

function parseText({ organization }: Context, text: string): string {
  const match = toCallMatch(organization.id, text);
  if (match !== null) return match;
  throw invalidAt(['query', 'text'], 'Has no word that could be looked for; send letters or digits', 'no_words');
}

/** The calls of the organization with these ids, by id. Calls that are no longer stored are left out. */
export async function findCalls({ database, organization }: Context, apiUrl: string, ids: number[]): Promise<Map<number, CallRecord>> {
  if (ids.length === 0) return new Map();
  const rows = await findCallRows(database, organization.id, JSON.stringify(ids));
  return new Map(rows.map((row) => [row.id, toCallRecord(apiUrl, row)]));
}
