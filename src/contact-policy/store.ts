import type { Database, Statement } from '../database/client.ts';
import type { contactConsent, contactDecision, contactPolicy } from '../database/schema/contact-policy.ts';
import type { StoredRow } from '../database/stored-row.ts';
import { mayNameTimeZoneSql } from '../contacts/contacts/named-time-zone.ts';
import type { Channel } from './policy.ts';

export type PolicyRow = Pick<StoredRow<typeof contactPolicy>, 'policy' | 'updated_at'>;
export type ConsentRow = Omit<StoredRow<typeof contactConsent>, 'organization_id' | 'phone'>;
type DecisionState = StoredRow<typeof contactDecision>['state'];

const minuteMs = 60_000;
/** A message is stored within this time after its reservation, or never. */
const messageStoredWithinMs = 5 * minuteMs;

export const selectPolicy = (database: Database, organizationId: number): Statement<PolicyRow> =>
  database.prepare<PolicyRow>('SELECT policy, updated_at FROM contact_policy WHERE organization_id = ?', organizationId);

export const writePolicy = (database: Database, organizationId: number, policy: string, now: number): Statement =>
  database.prepare(
    `INSERT INTO contact_policy (organization_id, policy, updated_at) VALUES (?1, ?2, ?3)
     ON CONFLICT (organization_id) DO UPDATE SET policy = excluded.policy, updated_at = excluded.updated_at`,
    organizationId,
    policy,
    now,
  );

export const deletePolicy = (database: Database, organizationId: number): Statement =>
  database.prepare('DELETE FROM contact_policy WHERE organization_id = ?', organizationId);

/** What the rules read of the contact with a phone. `fields`: JSON of the custom fields that may matter. */
export interface PersonRow {
  phone: string;
  fields: string;
}

/**
 * The fields that may name a time zone, or are `consentField`, of the contacts with these phones. A contact is found by its phone, which is
 * unique in the organization.
 */
export const selectPersons = (
  database: Database,
  organizationId: number,
  phones: string,
  consentField: string | null,
): Statement<PersonRow> =>
  database.prepare<PersonRow>(
    `SELECT c.phone, (SELECT json_group_object(f.key, json_extract(c.custom_fields, f.fullkey)) FROM json_each(c.custom_fields) f
       WHERE f.type NOT IN ('array', 'object', 'null') AND (f.key = ?3 OR ${mayNameTimeZoneSql('f.key')})) AS fields
     FROM json_each(?1) p CROSS JOIN contact c WHERE c.organization_id = ?2 AND c.phone = p.value AND c.deleted_at IS NULL`,
    phones,
    organizationId,
    consentField,
  );

export type PersonConsentRow = Pick<StoredRow<typeof contactConsent>, 'phone' | 'channel' | 'is_given' | 'at' | 'id'>;

/** The newest consent of each channel of these phones. */
export const selectConsents = (database: Database, organizationId: number, phones: string): Statement<PersonConsentRow> =>
  database.prepare<PersonConsentRow>(
    `SELECT s.phone, s.channel, s.is_given, s.at, s.id FROM json_each(?1) p CROSS JOIN json_each('["call","message","any"]') c
     CROSS JOIN contact_consent s WHERE s.id = (SELECT n.id FROM contact_consent n
       WHERE n.organization_id = ?2 AND n.phone = p.value AND n.channel = c.value ORDER BY n.at DESC, n.id DESC LIMIT 1)`,
    phones,
    organizationId,
  );

/** An attempt to contact a person, as `reserve` decides it. Moments in epoch ms. */
export interface AttemptToReserve {
  key: string;
  phone: string;
  channel: Channel;
  source: 'single' | 'journey' | 'campaign';
  sourceId: number;
  /** The limits, of which each must have room. */
  limits: { rule: string; channel: Channel | null; after: number; max: number }[];
  /** What another rule has decided; null: the limits decide. */
  refused: { state: DecisionState; rule: string; detail: string; until: number | null } | null;
  /** The state of an attempt that a limit does not allow. */
  refusedState: DecisionState;
}

/** The decision about an attempt, or a contact that counts. */
export interface DecisionRow {
  phone: string;
  key: string;
  channel: Channel;
  state: DecisionState;
  rule: string | null;
  created_at: number;
}

/**
 * Decides attempts, each of another person, in one transaction: an attempt is `reserved` when each of its limits has room. So attempts that
 * are decided at the same moment never exceed a limit together. The last statement answers the decisions and all contacts of these persons
 * after `since` that count. An attempt that was decided before is decided anew. Repeatable. Reservations of messages that were never stored,
 * since their sender died, count no more. They are looked for after `storedSince`, from which on no message is in the archive yet.
 */
export function reserve(
  database: Database,
  organizationId: number,
  attempts: AttemptToReserve[],
  { now, since, storedSince }: { now: number; since: number; storedSince: number },
) {
  const list = JSON.stringify(attempts);
  const phones = JSON.stringify(attempts.map(({ phone }) => phone));
  return [
    database.prepare(
      `UPDATE contact_decision SET state = 'released' WHERE id IN (
         SELECT d.id FROM json_each(?1) p CROSS JOIN contact_decision d
         WHERE d.organization_id = ?2 AND d.phone = p.value AND d.created_at > ?3 AND d.created_at < ?4
           AND d.channel = 'message' AND d.state = 'reserved'
           AND NOT EXISTS (SELECT 1 FROM message m WHERE m.organization_id = ?2 AND m.send_key = d.key))`,
      phones,
      organizationId,
      storedSince,
      now - messageStoredWithinMs,
    ),
    database.prepare(
      `DELETE FROM contact_decision WHERE id IN (
         SELECT d.id FROM json_each(?1) j CROSS JOIN contact_decision d
         WHERE d.organization_id = ?2 AND d.phone = j.value->>'phone' AND d.key = j.value->>'key')`,
      list,
      organizationId,
    ),
    database.prepare(
      `INSERT INTO contact_decision (organization_id, phone, key, channel, source, source_id, state, rule, detail, until, created_at)
       SELECT ?2, phone, key, channel, source, source_id, iif(rule IS NULL, 'reserved', state), rule, detail, until, ?3 FROM (
         SELECT j.value->>'phone' AS phone, j.value->>'key' AS key, j.value->>'channel' AS channel, j.value->>'source' AS source,
           j.value->>'sourceId' AS source_id, coalesce(j.value->>'$.refused.state', j.value->>'refusedState') AS state,
           j.value->>'$.refused.detail' AS detail, j.value->>'$.refused.until' AS until,
           coalesce(j.value->>'$.refused.rule', (
             SELECT w.value->>'rule' FROM json_each(j.value, '$.limits') w
             WHERE (SELECT count(*) FROM contact_decision d
               WHERE d.organization_id = ?2 AND d.phone = j.value->>'phone' AND d.created_at > w.value->>'after' AND d.state = 'reserved'
                 AND (w.value->>'channel' IS NULL OR d.channel = w.value->>'channel')) >= w.value->>'max'
             LIMIT 1)) AS rule
         FROM json_each(?1) j)`,
      list,
      organizationId,
      now,
    ),
    database.prepare<DecisionRow>(
      `SELECT d.phone, d.key, d.channel, d.state, d.rule, d.created_at FROM json_each(?1) j CROSS JOIN contact_decision d
       WHERE d.organization_id = ?2 AND d.phone = j.value->>'phone' AND d.created_at > ?3
         AND (d.state = 'reserved' OR d.key = j.value->>'key')`,
      list,
      organizationId,
      since,
    ),
  ] as const;
}

/** What was found out about attempts that a limit did not allow. */
export interface ExplainedDecision {
  key: string;
  phone: string;
  rule: string;
  detail: string;
  until: number | null;
}

export const explainDecisions = (database: Database, organizationId: number, decisions: ExplainedDecision[]): Statement =>
  database.prepare(
    `WITH found AS MATERIALIZED (
       SELECT d.id AS decision_id, j.value AS value FROM json_each(?1) j CROSS JOIN contact_decision d
       WHERE d.organization_id = ?2 AND d.phone = j.value->>'phone' AND d.key = j.value->>'key' AND d.state IN ('held', 'skipped'))
     UPDATE contact_decision SET rule = value->>'rule', detail = value->>'detail', until = value->>'until'
     FROM found WHERE contact_decision.id = found.decision_id`,
    JSON.stringify(decisions),
    organizationId,
  );

/** Releases the reservation of a message that the provider did not take. */
export const releaseReservation = (database: Database, organizationId: number, { key, phone }: { key: string; phone: string }): Statement =>
  database.prepare(
    `UPDATE contact_decision SET state = 'released' WHERE organization_id = ?1 AND phone = ?2 AND key = ?3 AND state = 'reserved'`,
    organizationId,
    phone,
    key,
  );

/** Releases the reservations of calls that never reached the carrier. `keys`: JSON of a list of attempt keys. */
export const releaseCallReservations = (database: Database, organizationId: number, keys: string): Statement =>
  database.prepare(
    `UPDATE contact_decision SET state = 'released' WHERE id IN (
       SELECT d.id FROM json_each(?1) k CROSS JOIN voice_agent_run r CROSS JOIN contact_decision d
       WHERE r.organization_id = ?2 AND r.attempt_key = k.value AND d.organization_id = ?2 AND d.phone = r.phone AND d.key = k.value
         AND d.state = 'reserved')`,
    keys,
    organizationId,
  );

/** The contacts with a person after `since` (epoch ms) that count. */
export const selectContactsSince = (
  database: Database,
  organizationId: number,
  phone: string,
  since: number,
): Statement<Pick<DecisionRow, 'channel' | 'created_at'>> =>
  database.prepare<Pick<DecisionRow, 'channel' | 'created_at'>>(
    `SELECT channel, created_at FROM contact_decision
     WHERE organization_id = ? AND phone = ? AND created_at > ? AND state = 'reserved'`,
    organizationId,
    phone,
    since,
  );

/** A consent to record. `at` in epoch ms. */
export interface NewConsent extends Pick<ConsentRow, 'channel' | 'source' | 'text' | 'at'> {
  phone: string;
  contactId: number;
  isGiven: boolean;
  createdBy: number;
}

const consentColumns = 'id, contact_id, channel, is_given, source, text, at, created_by, created_at';

/** Inserts a consent, unless the contact is deleted. */
export const insertConsent = (database: Database, organizationId: number, consent: NewConsent, now: number): Statement<ConsentRow> =>
  database.prepare<ConsentRow>(
    `INSERT INTO contact_consent (organization_id, phone, contact_id, channel, is_given, source, text, at, created_by, created_at)
     SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
     WHERE EXISTS (SELECT 1 FROM contact WHERE id = ?3 AND organization_id = ?1 AND deleted_at IS NULL) RETURNING ${consentColumns}`,
    organizationId,
    consent.phone,
    consent.contactId,
    consent.channel,
    consent.isGiven ? 1 : 0,
    consent.source,
    consent.text,
    consent.at,
    consent.createdBy,
    now,
  );

export const selectConsent = (database: Database, organizationId: number, id: number): Statement<ConsentRow> =>
  database.prepare<ConsentRow>(`SELECT ${consentColumns} FROM contact_consent WHERE id = ? AND organization_id = ?`, id, organizationId);

/** A page of a contact's consents, newest first, and how many there are. */
export const selectConsentPage = (
  database: Database,
  organizationId: number,
  contactId: number,
  { limit, offset, before }: { limit: number; offset: number; before: number | undefined },
) =>
  [
    database.prepare<ConsentRow>(
      `SELECT ${consentColumns} FROM contact_consent WHERE contact_id = ? AND organization_id = ? AND id < ? ORDER BY id DESC LIMIT ? OFFSET ?`,
      contactId,
      organizationId,
      before ?? Number.MAX_SAFE_INTEGER,
      limit + 1,
      offset,
    ),
    database.prepare<{ total: number }>(
      'SELECT count(*) AS total FROM contact_consent WHERE contact_id = ? AND organization_id = ?',
      contactId,
      organizationId,
    ),
  ] as const;

/**
 * Erases a page of a contact's consents, whose ids the last statement answers. What was said last about each channel, under each number of the
 * page, is looked at first: a withdrawal is kept without contact, source and text. Kept withdrawals that are in force no more are deleted.
 */
export function eraseConsents(database: Database, organizationId: number, contactId: number, limit: number) {
  const page = 'SELECT id, phone FROM contact_consent WHERE contact_id = ?1 AND organization_id = ?2 ORDER BY id LIMIT ?3';
  const latest = `SELECT coalesce((SELECT n.id FROM contact_consent n
      WHERE n.organization_id = ?2 AND n.phone = p.phone AND n.channel IN (c.value, 'any') ORDER BY n.at DESC, n.id DESC LIMIT 1), 0)
    FROM (SELECT DISTINCT phone FROM (${page})) p CROSS JOIN json_each('["call","message","any"]') c`;
  const prepare = (sql: string) => database.prepare<{ id: number }>(sql, contactId, organizationId, limit);
  return [
    prepare(
      `DELETE FROM contact_consent WHERE organization_id = ?2 AND phone IN (SELECT phone FROM (${page})) AND +contact_id = 0
         AND id NOT IN (${latest})`,
    ),
    prepare(
      `UPDATE contact_consent SET contact_id = 0, source = '', text = '' WHERE id IN (${latest}) AND +contact_id = ?1 AND is_given = 0`,
    ),
    prepare(`DELETE FROM contact_consent WHERE id IN (SELECT id FROM (${page})) RETURNING id`),
  ] as const;
}
