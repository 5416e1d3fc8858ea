import type { RowOutcome } from '../../src/calls/attempt/outcomes.ts';
import type { UnreachedOutcome } from '../../src/campaigns/dialing/retry-policy.ts';
import type { RowState } from '../../src/campaigns/rows/row-states.ts';

/** A row of `campaign_row`. Moments in epoch ms. */
export type CampaignRowColumns = {
  number: number;
  phone: string;
  contact_id: number | null;
  /** The time zone group. */
  lane: number;
  state: RowState;
  outcome: RowOutcome | null;
  reason: string | null;
  attempts: number;
  carrier_troubles: number;
  rate_limits: number;
  unreached: UnreachedOutcome | null;
  /**
   * When the row's call is requested from the call slots; 0: as soon as there is capacity. Null for a waiting row: it was requested, or is
   * new.
   */
  due: number | null;
  /** The value of `due` without calling windows. */
  not_before: number | null;
  attempt: number;
  /** JSON. */
  run_ids: string;
  /** The moment of the last report that changed the row. */
  heard_at: number;
  /** JSON. */
  variables: string;
};

/** The kinds of a campaign's timers, as the `timer` table stores them. */
export const campaignTimers = {
  readSource: 'sync',
  /** Requests the next calls from the call slots. */
  requestCalls: 'ask',
  /** Repeats all requests. */
  repeatRequests: 'check',
  withdraw: 'withdraw',
  withdrawDeletedContacts: 'withdraw_calls',
  /** Ends the rows of a campaign that was cancelled or has failed. */
  endRows: 'close',
  /** Publishes the completion. */
  finish: 'finish',
} as const;

/**
 * `asked`: the rows that the call slots have, or may have. `lane`: the time zone groups. `ended_call`: the calls that the circuit breaker
 * counts. `tally`: how many rows are in each state, how many rows that were dialled have each outcome, and the sum of attempts. The tally
 * names states and outcomes: a new one needs a step of its own.
 */
export const campaignSchemaSteps = [
  `CREATE TABLE campaign (
     id INTEGER PRIMARY KEY, organization_id INTEGER NOT NULL, name TEXT NOT NULL, agent_id INTEGER NOT NULL, source TEXT NOT NULL,
     configs TEXT NOT NULL, state TEXT NOT NULL, state_reason TEXT, started_at INTEGER NOT NULL, completed_at INTEGER,
     is_synced INTEGER NOT NULL, epoch INTEGER NOT NULL, withdrawn_epoch INTEGER NOT NULL, portion INTEGER NOT NULL,
     answered_portion INTEGER NOT NULL, zoned_until INTEGER NOT NULL, breaker_cleared_at INTEGER NOT NULL, last_act TEXT NOT NULL, ending TEXT
   );
   CREATE TABLE campaign_row (
     number INTEGER PRIMARY KEY, phone TEXT NOT NULL, contact_id INTEGER, lane INTEGER NOT NULL, state TEXT NOT NULL, outcome TEXT, reason TEXT,
     attempts INTEGER NOT NULL, carrier_troubles INTEGER NOT NULL, rate_limits INTEGER NOT NULL, unreached TEXT, due INTEGER,
     not_before INTEGER, attempt INTEGER NOT NULL, run_ids TEXT NOT NULL,
     heard_at INTEGER NOT NULL, variables TEXT NOT NULL
   );
   CREATE INDEX campaign_row_due ON campaign_row (due) WHERE due IS NOT NULL;
   CREATE INDEX campaign_row_lane_due ON campaign_row (lane) WHERE due IS NOT NULL;
   CREATE INDEX campaign_row_lane ON campaign_row (lane, number) WHERE lane > 0;
   CREATE INDEX campaign_row_contact ON campaign_row (contact_id) WHERE contact_id IS NOT NULL;
   CREATE INDEX campaign_row_state ON campaign_row (state, number) WHERE state IN ('scheduled', 'completed', 'failed', 'skipped');
   CREATE TABLE asked (number INTEGER PRIMARY KEY, portion INTEGER NOT NULL, is_contact_gone INTEGER NOT NULL);
   CREATE TABLE lane (id INTEGER PRIMARY KEY, zone TEXT UNIQUE, cursor INTEGER NOT NULL);
   INSERT INTO lane (id, zone, cursor) VALUES (0, NULL, 0);
   CREATE TABLE ended_call (
     ended_at INTEGER NOT NULL, number INTEGER NOT NULL, attempt INTEGER NOT NULL, is_failure INTEGER NOT NULL,
     PRIMARY KEY (ended_at, number, attempt)
   ) WITHOUT ROWID;
   CREATE TABLE log (
     id INTEGER PRIMARY KEY, at INTEGER NOT NULL, level TEXT NOT NULL, event TEXT NOT NULL, message TEXT NOT NULL, details TEXT NOT NULL
   );
   CREATE TABLE tally (
     pending INTEGER NOT NULL, scheduled INTEGER NOT NULL, dialing INTEGER NOT NULL, in_call INTEGER NOT NULL,
     completed INTEGER NOT NULL, failed INTEGER NOT NULL, skipped INTEGER NOT NULL, outcome_completed INTEGER NOT NULL,
     outcome_busy INTEGER NOT NULL, outcome_no_answer INTEGER NOT NULL, outcome_voicemail INTEGER NOT NULL,
     outcome_failed INTEGER NOT NULL, outcome_cancelled INTEGER NOT NULL, attempts INTEGER NOT NULL
   );
   INSERT INTO tally VALUES (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
   CREATE TRIGGER campaign_row_added AFTER INSERT ON campaign_row BEGIN
     UPDATE tally SET
       pending = pending + (NEW.state = 'pending'), scheduled = scheduled + (NEW.state = 'scheduled'),
       dialing = dialing + (NEW.state = 'dialing'), in_call = in_call + (NEW.state = 'in_call'),
       completed = completed + (NEW.state = 'completed'), failed = failed + (NEW.state = 'failed'),
       skipped = skipped + (NEW.state = 'skipped'), outcome_completed = outcome_completed + (NEW.outcome IS 'completed'),
       outcome_busy = outcome_busy + (NEW.outcome IS 'busy'), outcome_no_answer = outcome_no_answer + (NEW.outcome IS 'no_answer'),
       outcome_voicemail = outcome_voicemail + (NEW.outcome IS 'voicemail'), outcome_failed = outcome_failed + (NEW.outcome IS 'failed'),
       outcome_cancelled = outcome_cancelled + (NEW.outcome IS 'cancelled'), attempts = attempts + NEW.attempts;
   END;
   CREATE TRIGGER campaign_row_moved AFTER UPDATE OF state ON campaign_row WHEN NEW.state <> OLD.state BEGIN
     UPDATE tally SET
       pending = pending + (NEW.state = 'pending') - (OLD.state = 'pending'),
       scheduled = scheduled + (NEW.state = 'scheduled') - (OLD.state = 'scheduled'),
       dialing = dialing + (NEW.state = 'dialing') - (OLD.state = 'dialing'),
       in_call = in_call + (NEW.state = 'in_call') - (OLD.state = 'in_call'),
       completed = completed + (NEW.state = 'completed') - (OLD.state = 'completed'),
       failed = failed + (NEW.state = 'failed') - (OLD.state = 'failed'),
       skipped = skipped + (NEW.state = 'skipped') - (OLD.state = 'skipped'),
       outcome_completed = outcome_completed + (NEW.outcome IS 'completed') - (OLD.outcome IS 'completed'),
       outcome_busy = outcome_busy + (NEW.outcome IS 'busy') - (OLD.outcome IS 'busy'),
       outcome_no_answer = outcome_no_answer + (NEW.outcome IS 'no_answer') - (OLD.outcome IS 'no_answer'),
       outcome_voicemail = outcome_voicemail + (NEW.outcome IS 'voicemail') - (OLD.outcome IS 'voicemail'),
       outcome_failed = outcome_failed + (NEW.outcome IS 'failed') - (OLD.outcome IS 'failed'),
       outcome_cancelled = outcome_cancelled + (NEW.outcome IS 'cancelled') - (OLD.outcome IS 'cancelled'),
       attempts = attempts + NEW.attempts - OLD.attempts;
   END;`,
  // An attempt may end a row's wait in another one, without a change of its state.
  `DROP TRIGGER campaign_row_moved;
   CREATE TRIGGER campaign_row_moved AFTER UPDATE OF state, outcome, attempts ON campaign_row
     WHEN NEW.state <> OLD.state OR NEW.attempts <> OLD.attempts OR NEW.outcome IS NOT OLD.outcome BEGIN
     UPDATE tally SET
       pending = pending + (NEW.state = 'pending') - (OLD.state = 'pending'),
       scheduled = scheduled + (NEW.state = 'scheduled') - (OLD.state = 'scheduled'),
       dialing = dialing + (NEW.state = 'dialing') - (OLD.state = 'dialing'),
       in_call = in_call + (NEW.state = 'in_call') - (OLD.state = 'in_call'),
       completed = completed + (NEW.state = 'completed') - (OLD.state = 'completed'),
       failed = failed + (NEW.state = 'failed') - (OLD.state = 'failed'),
       skipped = skipped + (NEW.state = 'skipped') - (OLD.state = 'skipped'),
       outcome_completed = outcome_completed + (NEW.outcome IS 'completed') - (OLD.outcome IS 'completed'),
       outcome_busy = outcome_busy + (NEW.outcome IS 'busy') - (OLD.outcome IS 'busy'),
       outcome_no_answer = outcome_no_answer + (NEW.outcome IS 'no_answer') - (OLD.outcome IS 'no_answer'),
       outcome_voicemail = outcome_voicemail + (NEW.outcome IS 'voicemail') - (OLD.outcome IS 'voicemail'),
       outcome_failed = outcome_failed + (NEW.outcome IS 'failed') - (OLD.outcome IS 'failed'),
       outcome_cancelled = outcome_cancelled + (NEW.outcome IS 'cancelled') - (OLD.outcome IS 'cancelled'),
       attempts = attempts + NEW.attempts - OLD.attempts;
   END;
   UPDATE tally SET attempts = (SELECT ifnull(sum(attempts), 0) FROM campaign_row);`,
  // The object counts (`row-tally.ts`), and writes the tally once for all rows of a transaction.
  'DROP TRIGGER campaign_row_added; DROP TRIGGER campaign_row_moved;',
  // What people have changed, until the campaign's row shows it.
  'ALTER TABLE campaign ADD COLUMN actor TEXT;',
] as const;
