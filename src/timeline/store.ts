import type { Database, Statement } from '../database/client.ts';

/** A place in one source, newest first. By `id` alone where a source is read in the order of ids. `at` in epoch ms. */
export interface Place {
  at: number;
  id: number;
}

/** One thing that happened to a person. Moments in epoch ms; what a kind does not have is null. */
export interface TimelineRow {
  id: number;
  at: number;
  state: string;
  why: string | null;
  rule: string | null;
  next_at: number | null;
  channel: 'call' | 'message' | null;
  event_type: string | null;
  campaign_id: number | null;
  journey_id: number | null;
  journey_run_id: number | null;
  agent_id: number | null;
  call_run_id: number | null;
}

export const timelineKinds = ['event', 'run', 'decision', 'call', 'message', 'consent', 'suppression'] as const;
export type TimelineKind = (typeof timelineKinds)[number];

interface Source {
  /** The columns of `TimelineRow` that are not null, by name. */
  columns: Partial<Record<keyof TimelineRow, string>>;
  /** The rows `r` of the contact ?2 with the phone ?3, which go along one index in this order. `?1` is the organization. */
  from: string;
  order: 'id' | 'moment';
}

const isInForce = '(r.until IS NULL OR r.until > ?7)';

const sources: Record<TimelineKind, Source> = {
  event: {
    columns: { at: 'r.created_at', state: "iif(r.handled_at IS NULL, 'open', 'handled')", why: 'r.note', event_type: 'r.event_type' },
    from: 'event r INDEXED BY event_contact WHERE r.contact_id = ?2 AND r.organization_id = ?1',
    order: 'moment',
  },
  run: {
    columns: {
      at: 'r.created_at',
      state: 'r.state',
      why: "coalesce(iif(json_valid(r.error), r.error ->> '$.message', r.error), r.hold, r.outcome)",
      next_at: 'iif(r.completed_at IS NULL, r.wake_at, NULL)',
      journey_id: 'r.workflow_id',
      journey_run_id: 'r.id',
      call_run_id: 'r.voice_call_run_id',
    },
    from: 'automation_run r INDEXED BY automation_run_contact WHERE r.contact_id = ?2 AND r.organization_id = ?1 AND r.is_test = 0',
    order: 'id',
  },
  decision: {
    columns: {
      at: 'r.created_at',
      state: 'r.state',
      why: 'r.detail',
      rule: 'r.rule',
      next_at: 'r.until',
      channel: 'r.channel',
      campaign_id: "iif(r.source = 'campaign', r.source_id, NULL)",
      journey_run_id: "iif(r.source = 'journey', r.source_id, NULL)",
    },
    from: 'contact_decision r INDEXED BY contact_decision_person WHERE r.organization_id = ?1 AND r.phone = ?3',
    order: 'moment',
  },
  call: {
    columns: {
      at: 'r.created_at',
      state: "coalesce(r.outcome, iif(r.is_completed = 1, 'completed', 'open'))",
      why: 'r.reason',
      channel: "'call'",
      campaign_id: 'r.campaign_id',
      journey_id: 'r.automation_workflow_id',
      journey_run_id: 'r.automation_run_id',
      agent_id: 'r.agent_id',
      call_run_id: 'r.id',
    },
    from: `voice_agent_run r INDEXED BY voice_agent_run_contact WHERE r.contact_id = ?2 AND r.organization_id = ?1
      AND r.mode NOT IN ('textchat', 'simtest')`,
    order: 'id',
  },
  message: {
    columns: {
      at: 'r.created_at',
      state: 'r.status',
      why: 'r.error',
      channel: "'message'",
      journey_run_id: 'r.automation_run_id',
    },
    from: 'message r INDEXED BY message_contact WHERE r.contact_id = ?2 AND r.organization_id = ?1',
    order: 'id',
  },
  consent: {
    columns: {
      at: 'r.created_at',
      state: "iif(r.is_given = 1, 'given', 'withdrawn')",
      why: 'r.text',
      channel: "iif(r.channel = 'any', NULL, r.channel)",
    },
    from: 'contact_consent r INDEXED BY contact_consent_contact WHERE r.contact_id = ?2 AND r.organization_id = ?1',
    order: 'id',
  },
  suppression: {
    columns: {
      at: 'r.created_at',
      state: `iif(${isInForce}, 'in_force', 'ended')`,
      why: 'coalesce(r.evidence, r.reason)',
      next_at: `iif(${isInForce}, r.until, NULL)`,
      channel: "'call'",
      call_run_id: 'r.call_run_id',
    },
    from: 'suppression r INDEXED BY suppression_phone WHERE r.organization_id = ?1 AND r.phone = ?3',
    order: 'id',
  },
};

const columnNames = [
  'at',
  'state',
  'why',
  'rule',
  'next_at',
  'channel',
  'event_type',
  'campaign_id',
  'journey_id',
  'journey_run_id',
  'agent_id',
  'call_run_id',
] as const;

export interface TimelineOf {
  contactId: number;
  /** The one spelling of the contact's number; null: it has none. */
  phone: string | null;
}

/** At most `limit` rows of one kind behind a place, newest first. `now` in epoch ms. */
export function selectTimelineRows(
  database: Database,
  organizationId: number,
  kind: TimelineKind,
  { contactId, phone }: TimelineOf,
  { behind, limit, now }: { behind: Place | undefined; limit: number; now: number },
): Statement<TimelineRow> {
  const { columns, from, order } = sources[kind];
  const shown = columnNames.map((name) => `${columns[name] ?? 'NULL'} AS ${name}`).join(', ');
  const [isBehind, sorted] =
    order === 'id'
      ? ['r.id < ?5 AND ?4 IS NOT NULL', 'r.id DESC']
      : ['(r.created_at < ?4 OR (r.created_at = ?4 AND r.id < ?5))', 'r.created_at DESC, r.id DESC'];
  // Numbered parameters that a source does not use have to stand somewhere.
  return database.prepare<TimelineRow>(
    `SELECT r.id, ${shown} FROM ${from} AND ${isBehind} AND (?2 = ?2 OR ?3 = ?3 OR ?7 = ?7) ORDER BY ${sorted} LIMIT ?6`,
    organizationId,
    contactId,
    phone ?? '',
    behind?.at ?? Number.MAX_SAFE_INTEGER,
    behind?.id ?? Number.MAX_SAFE_INTEGER,
    limit,
    now,
  );
}
