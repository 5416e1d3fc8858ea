import { env } from 'cloudflare:workers';
import { toCallWords } from '../../src/calls/listing/call-words.ts';
import { insertRow } from '../support/insert-row.ts';
import { ownRows } from '../support/own-rows.ts';

/** What a test says of a call; everything else has a usual value. Moments in epoch ms. */
export interface ListedCall {
  agentId: number;
  campaignId?: number | null;
  journeyId?: number | null;
  journeyRunId?: number | null;
  contactId?: number | null;
  phone?: string | null;
  ownNumber?: string | null;
  direction?: 'inbound' | 'outbound';
  mode?: string;
  isLive?: boolean;
  outcome?: string | null;
  disposition?: string | null;
  talkSeconds?: number | null;
  createdAt?: number;
  said?: string | null;
  extracted?: Record<string, unknown>;
}

let attempts = 0;

/** Inserts a call as it stands in the database, with its words. Returns its id. */
export async function insertCall(organizationId: number, call: ListedCall): Promise<number> {
  const isLive = call.isLive === true;
  const createdAt = call.createdAt ?? Date.now();
  const result = {
    answered_by: 'person',
    gathered_context: { extracted_variables: call.extracted ?? {} },
    cost_info: { call_duration_seconds: call.talkSeconds ?? 0, total_cost_usd: 0.01 },
    annotations: { summary: call.said ?? null, sentiment: 'neutral' },
  };
  const run = call.journeyRunId ?? null;
  const id = await insertRow('voice_agent_run', {
    organization_id: organizationId,
    agent_id: call.agentId,
    definition_id: 1,
    name: 'Sales to somebody',
    mode: call.mode ?? 'twilio',
    call_type: call.direction ?? 'outbound',
    attempt_key: run === null ? `list:${organizationId}:${++attempts}` : `journey:${run}:call:1:${++attempts}`,
    phone: call.phone === undefined ? '+12125550100' : call.phone,
    own_number: call.ownNumber ?? null,
    contact_id: call.contactId ?? null,
    campaign_id: call.campaignId ?? null,
    automation_run_id: run,
    automation_workflow_id: call.journeyId ?? null,
    outcome: isLive ? null : (call.outcome ?? 'completed'),
    disposition: call.disposition ?? null,
    talk_seconds: isLive ? null : (call.talkSeconds ?? null),
    is_completed: isLive ? 0 : 1,
    initial_context: '{}',
    result: isLive ? null : JSON.stringify(result),
    has_transcript: call.said ? 1 : 0,
    created_at: createdAt,
    started_at: isLive ? null : createdAt + 5000,
    completed_at: isLive ? null : createdAt + 65_000,
  });
  if (call.said)
    await ownRows
      .prepare('INSERT INTO call_search (rowid, scope, text) VALUES (?, ?, ?)')
      .bind(id, `organization${organizationId}`, toCallWords([], call.said))
      .run();
  return id;
}

/** Inserts many calls of an agent that have nothing to tell, in one statement. */
export const fillCalls = (organizationId: number, agentId: number, count: number, more: { createdAt?: number; campaignId?: number } = {}) =>
  env.DB.prepare(
    `INSERT INTO voice_agent_run (organization_id, agent_id, definition_id, name, mode, call_type, attempt_key, phone, campaign_id, outcome, is_completed,
       initial_context, result, created_at, started_at, completed_at, talk_seconds)
     SELECT ?1, ?2, 1, 'Sales to somebody', 'twilio', 'outbound', 'fill:' || ?5 || ':' || value, '+1212555' || (1000 + value % 9000), ?6,
       iif(value % 10 = 0, 'completed', 'busy'), 1, '{}',
       '{"gathered_context":{"extracted_variables":{"day":"Monday"}},"cost_info":{"total_cost_usd":0},"annotations":{"summary":"She asks for an offer"}}',
       ?4 + value, NULL, ?4 + value, iif(value % 10 = 0, 1 + value % 300, NULL)
     FROM (WITH RECURSIVE number(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM number WHERE value < ?3) SELECT value FROM number)`,
  )
    .bind(organizationId, agentId, count, more.createdAt ?? 1_700_000_000_000, ++attempts, more.campaignId ?? null)
    .run();
