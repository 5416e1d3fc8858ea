/** `session.status` is `starting` from the wish to begin it until its object has answered. */
export const loadTestSchemaSteps = [
  `CREATE TABLE load_test (
     id INTEGER PRIMARY KEY, organization_id INTEGER NOT NULL, status TEXT NOT NULL, concurrency INTEGER NOT NULL, ramp_seconds INTEGER NOT NULL,
     max_duration_seconds INTEGER NOT NULL, started_at INTEGER NOT NULL, completed_at INTEGER, most_running INTEGER NOT NULL,
     last_act TEXT NOT NULL
   );
   CREATE TABLE session (
     test_index INTEGER PRIMARY KEY, id INTEGER NOT NULL, status TEXT NOT NULL, started_at INTEGER, ended_at INTEGER, outcome TEXT, error TEXT,
     duration_ms INTEGER, latencies TEXT
   );`,
] as const;
