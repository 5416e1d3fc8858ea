import type { SchemaSteps } from '../shared/object-store.ts';

export const slotsSchemaSteps: SchemaSteps = [
  `CREATE TABLE about (organization_id INTEGER NOT NULL);
   CREATE TABLE owner (
     name TEXT PRIMARY KEY, kind TEXT NOT NULL, id INTEGER NOT NULL, lane TEXT NOT NULL, epoch INTEGER NOT NULL, max_concurrency INTEGER
   ) WITHOUT ROWID;
   CREATE INDEX owner_lane ON owner (lane);
   CREATE TABLE attempt (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     key TEXT NOT NULL,
     owner TEXT NOT NULL,
     lane TEXT NOT NULL,
     epoch INTEGER NOT NULL,
     phone TEXT NOT NULL,
     state TEXT NOT NULL,
     is_live INTEGER NOT NULL,
     is_engaged INTEGER NOT NULL,
     not_before INTEGER NOT NULL,
     not_after INTEGER,
     agent_id INTEGER NOT NULL,
     contact_id INTEGER,
     name TEXT NOT NULL,
     initial_context TEXT,
     run_id INTEGER,
     config_id INTEGER,
     own_number TEXT,
     call_id TEXT,
     status TEXT,
     answered_by TEXT,
     awaits_verdict INTEGER NOT NULL,
     has_talk INTEGER NOT NULL,
     granted_at INTEGER,
     submitted_at INTEGER,
     answered_at INTEGER,
     ended_at INTEGER,
     duration_seconds INTEGER,
     sip_code INTEGER,
     submission INTEGER NOT NULL,
     requeues INTEGER NOT NULL,
     has_row INTEGER NOT NULL,
     dialled_before INTEGER,
     looks INTEGER NOT NULL,
     check_at INTEGER,
     outcome TEXT,
     returned TEXT,
     returned_until INTEGER,
     detail TEXT,
     retry_after_seconds INTEGER,
     callbacks TEXT NOT NULL,
     settling TEXT NOT NULL,
     level INTEGER NOT NULL,
     told INTEGER NOT NULL
   );
   CREATE UNIQUE INDEX attempt_key ON attempt (key);
   CREATE INDEX attempt_queued ON attempt (lane, seq) WHERE state = 'queued';
   CREATE INDEX attempt_open ON attempt (owner) WHERE state IN ('queued', 'granted');
   CREATE INDEX attempt_live ON attempt (lane) WHERE is_live = 1;
   CREATE INDEX attempt_engaged ON attempt (phone) WHERE is_engaged = 1;
   CREATE UNIQUE INDEX attempt_one_call ON attempt (phone) WHERE is_live = 1 AND lane <> 'inbound';
   CREATE INDEX attempt_call ON attempt (call_id) WHERE call_id IS NOT NULL;
   CREATE INDEX attempt_check ON attempt (check_at) WHERE check_at IS NOT NULL;
   CREATE INDEX attempt_untold ON attempt (owner) WHERE level > told;
   CREATE INDEX attempt_unsettled ON attempt (settling) WHERE settling IN ('silent', 'talk');
   CREATE INDEX attempt_over ON attempt (ended_at) WHERE state IN ('ended', 'returned');
   CREATE TABLE dialled (phone TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
   CREATE INDEX dialled_at ON dialled (at);`,
  // Only attempts that still need work are in `attempt_open`; the object keeps them in memory. `previous` is the key of the person's last call.
  `CREATE TABLE attempt_by_key (
     key TEXT PRIMARY KEY, seq INTEGER NOT NULL, owner TEXT NOT NULL, lane TEXT NOT NULL, epoch INTEGER NOT NULL, phone TEXT NOT NULL,
     state TEXT NOT NULL, is_open INTEGER NOT NULL, not_before INTEGER NOT NULL, not_after INTEGER, agent_id INTEGER NOT NULL,
     contact_id INTEGER, name TEXT NOT NULL, initial_context TEXT, run_id INTEGER, config_id INTEGER, own_number TEXT, call_id TEXT,
     status TEXT, answered_by TEXT, awaits_verdict INTEGER NOT NULL, has_talk INTEGER NOT NULL, granted_at INTEGER, submitted_at INTEGER,
     answered_at INTEGER, ended_at INTEGER, duration_seconds INTEGER, sip_code INTEGER, submission INTEGER NOT NULL,
     requeues INTEGER NOT NULL, has_row INTEGER NOT NULL, dialled_before INTEGER, previous TEXT, looks INTEGER NOT NULL, check_at INTEGER,
     outcome TEXT, returned TEXT, returned_until INTEGER, detail TEXT, retry_after_seconds INTEGER, callbacks TEXT NOT NULL,
     settling TEXT NOT NULL, level INTEGER NOT NULL, told INTEGER NOT NULL
   ) WITHOUT ROWID;
   INSERT INTO attempt_by_key SELECT key, seq, owner, lane, epoch, phone, iif(state = 'granted', 'queued', state),
     state IN ('submitting', 'placed') OR settling <> 'none' OR level > told, not_before, not_after, agent_id, contact_id, name,
     initial_context, run_id, config_id, own_number, call_id, status, answered_by, awaits_verdict, has_talk, granted_at, submitted_at,
     answered_at, ended_at, duration_seconds, sip_code, submission, requeues, has_row, dialled_before, NULL, looks,
     iif(state = 'granted', NULL, check_at), outcome, returned, returned_until, detail, retry_after_seconds, callbacks, settling, level, told
     FROM attempt;
   DROP TABLE attempt;
   ALTER TABLE attempt_by_key RENAME TO attempt;
   CREATE INDEX attempt_queued ON attempt (lane, seq) WHERE state = 'queued';
   CREATE INDEX attempt_open ON attempt (seq) WHERE is_open = 1;
   DROP INDEX dialled_at;
   ALTER TABLE dialled ADD COLUMN key TEXT;
   DROP INDEX owner_lane;`,
];
