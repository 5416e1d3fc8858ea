import type { SqlFragment } from '../../database/sql-fragment.ts';
import type { Parameter } from '../../database/client.ts';
import type { RowOutcome } from '../attempt/outcomes.ts';

export const callSorts = ['newest', 'oldest', 'longest_talk'] as const;
export type CallSort = (typeof callSorts)[number];

/** What calls must have in common. An absent field says nothing. Moments in epoch ms, both inclusive. */
export interface CallFilter {
  agentId?: number | undefined;
  campaignId?: number | undefined;
  journeyId?: number | undefined;
  journeyRunId?: number | undefined;
  contactId?: number | undefined;
  /** E.164. */
  phone?: string | undefined;
  ownNumber?: string | undefined;
  direction?: 'inbound' | 'outbound' | undefined;
  status?: 'live' | 'ended' | undefined;
  outcome?: RowOutcome | undefined;
  disposition?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
  minTalkSeconds?: number | undefined;
  /** An FTS5 expression that includes the organization's scope (call-words.ts). */
  match?: string | undefined;
}

/** The condition on a row `r` of `voice_agent_run`. */
export function toCondition(organizationId: number, filter: CallFilter): SqlFragment {
  const parts: string[] = [];
  const parameters: Parameter[] = [];
  const add = (sql: string, value: Parameter | undefined) => {
    if (value === undefined) return;
    parts.push(sql);
    parameters.push(value);
  };
  add("r.organization_id = ? AND r.mode <> 'textchat'", organizationId);
  add('r.agent_id = ?', filter.agentId);
  add('r.campaign_id = ?', filter.campaignId);
  add('r.automation_workflow_id = ?', filter.journeyId);
  add('r.automation_run_id = ?', filter.journeyRunId);
  add('r.contact_id = ?', filter.contactId);
  add('r.phone = ?', filter.phone);
  add('r.own_number = ?', filter.ownNumber);
  add('r.call_type = ?', filter.direction);
  add('r.is_completed = ?', filter.status && (filter.status === 'ended' ? 1 : 0));
  add('r.outcome = ?', filter.outcome);
  add('r.disposition = ?', filter.disposition);
  add('r.created_at >= ?', filter.from);
  add('r.created_at <= ?', filter.to);
  add('r.talk_seconds >= ?', filter.minTalkSeconds);
  // Of one row, so that the words need not be looked up in all calls.
  add('EXISTS (SELECT 1 FROM call_search WHERE call_search MATCH ? AND rowid = r.id)', filter.match);
  return { sql: parts.join(' AND '), parameters };
}
