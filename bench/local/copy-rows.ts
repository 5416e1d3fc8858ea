import type { Database } from './start.ts';

const tables = [
  'organization',
  'user',
  'membership',
  'api_key',
  'automation_workflow',
  'automation_version',
  'automation_trigger',
  'trigger_topic',
];

/** Copies accounts and journeys, so that both databases hold the same under the same ids. */
export async function copyRows(from: Database, to: Database): Promise<void> {
  for (const table of tables) {
    const { results } = await from.prepare(`SELECT * FROM ${table}`).all();
    for (const row of results) {
      const names = Object.keys(row);
      await to
        .prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
        .bind(...Object.values(row))
        .run();
    }
  }
}
