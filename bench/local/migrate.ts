import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDirectory } from '../../scripts/local/settings.ts';
import type { Database } from './start.ts';

const migrations = join(projectDirectory, 'migrations');

/** Ids begin after these, so that no other number in a recorded statement can be taken for one. */
const before = { contact: 6_100_000_000, event: 7_100_000_000, run: 8_100_000_000, delivery: 9_100_000_000 };

/** The database itself records, to the millisecond, when the row of a run became completed. */
const completions = [
  'CREATE TABLE bench_completion (run_id INTEGER PRIMARY KEY, completed_at INTEGER NOT NULL)',
  `CREATE TRIGGER bench_completed AFTER UPDATE OF state ON automation_run WHEN NEW.state = 'completed' BEGIN
     INSERT INTO bench_completion VALUES (NEW.id, CAST(unixepoch('subsec') * 1000 AS INTEGER));
   END`,
];

/** Applies the migrations, and what the benchmark itself needs, to an empty database. Noting completions is a row more for each run. */
export async function migrate(database: Database, notesCompletions: boolean): Promise<void> {
  const files = readdirSync(migrations)
    .filter((name) => name.endsWith('.sql'))
    .toSorted();
  const statements = files.flatMap((name) => readFileSync(join(migrations, name), 'utf8').split('--> statement-breakpoint'));
  const applied = ['CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY, name TEXT UNIQUE)', ...files.map(noteApplied)];
  await database.batch(
    [...statements, ...applied, ...(notesCompletions ? completions : []), ...rowsBelow()].map((sql) => database.prepare(sql)),
  );
}

/** As wrangler notes it. Without these the service says that its database is not ready. */
const noteApplied = (name: string): string => `INSERT INTO d1_migrations (name) VALUES ('${name}')`;

/** A row of a foreign organization with each of these ids: the next one inserted gets the next id. None is old or waits for anything. */
function rowsBelow(): string[] {
  const now = Date.now();
  return [
    `INSERT INTO contact (id, organization_id, tags, custom_fields, created_at, updated_at) VALUES (${before.contact}, 0, '[]', '{}', ${now}, ${now})`,
    `INSERT INTO event (id, organization_id, event_type, data, created_at, handled_at) VALUES (${before.event}, 0, 'none', '{}', ${now}, ${now})`,
    `INSERT INTO automation_run (id, organization_id, workflow_id, workflow_version, state, dedup_key, source, created_at, completed_at)
     VALUES (${before.run}, 0, 0, 1, 'failed', 'none', 'run', ${now}, ${now})`,
    `INSERT INTO webhook_delivery (id, organization_id, trigger_id, payload, created_at, handled_at)
     VALUES (${before.delivery}, 0, 0, '{}', ${now}, ${now})`,
  ];
}
