import { rowStates } from '../../src/campaigns/row-states.ts';
import { rowOutcomes } from '../../src/voice-agents/dialing/call-outcomes.ts';

const outcomeColumn = (outcome: string) => `outcome_${outcome}`;
const columns = [...rowStates, ...rowOutcomes.map(outcomeColumn), 'attempts'];

/** What a row adds to the tally, as SQL over `NEW` or `OLD`. Outcomes are counted of rows that have ended. */
const share = (row: 'NEW' | 'OLD'): [string, string][] => [
  ...rowStates.map((state): [string, string] => [state, `(${row}.state = '${state}')`]),
  ...rowOutcomes.map((outcome): [string, string] => [outcomeColumn(outcome), `(${row}.outcome IS '${outcome}')`]),
  ['attempts', `${row}.attempts`],
];
const added = share('NEW').map(([column, value]) => `${column} = ${column} + ${value}`);
const before = new Map(share('OLD'));
const moved = share('NEW').map(([column, value]) => `${column} = ${column} + ${value} - ${before.get(column)}`);

/**
 * `campaign_row`: `due` is when the row is to be asked for (0: as soon as there is room); null of a waiting row: it has been asked for, or is
 * new. `not_before`: when that would be without calling windows. `lane` is whose clock it is called by. `asked`: rows that the slots have, or may have. `ended_call`: what the breaker counts.
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
   CREATE TABLE tally (${columns.map((column) => `${column} INTEGER NOT NULL`).join(', ')});
   INSERT INTO tally VALUES (${columns.map(() => 0).join(', ')});
   CREATE TRIGGER campaign_row_added AFTER INSERT ON campaign_row BEGIN UPDATE tally SET ${added.join(', ')}; END;
   CREATE TRIGGER campaign_row_moved AFTER UPDATE OF state ON campaign_row WHEN NEW.state <> OLD.state BEGIN
     UPDATE tally SET ${moved.join(', ')}; END;`,
] as const;
