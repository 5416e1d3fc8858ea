import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { toSenderKey } from '../../src/database/request-key.ts';
import { organizationFolders, globalTables, organizationTables } from '../../src/database/organization-tables.ts';

/** Tables of the database as it is, without those that D1 and full-text search keep for themselves. */
async function tables(): Promise<string[]> {
  const { results } = await env.DB.prepare(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_cf%' ESCAPE '\\'
       AND name NOT LIKE 'd1\\_%' ESCAPE '\\' AND name NOT GLOB '*_search*' ORDER BY name`,
  ).all<{ name: string }>();
  return results.map(({ name }) => name);
}

test('every table is listed, either with its organization or as global', async () => {
  const named = [...organizationTables.map(({ table }) => table), ...globalTables];
  expect(named.toSorted()).toEqual(await tables());
});

test('what is of nobody has no column that names an organization', async () => {
  for (const table of globalTables) {
    const { results } = await env.DB.prepare(`SELECT name FROM pragma_table_info(?)`).bind(table).all<{ name: string }>();
    expect(results.map(({ name }) => name)).not.toContain('organization_id');
  }
});

describe.each(organizationTables)('$table', ({ table, rows, isShort }) => {
  test.each(rows)('is read along an index where %s', async (condition) => {
    const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN SELECT 1 FROM ${table} WHERE ${condition}`)
      .bind(1)
      .all<{ detail: string }>();
    const scans = results.map(({ detail }) => detail).filter((detail) => detail.startsWith('SCAN'));
    expect(scans).toEqual(isShort ? [`SCAN ${table}`] : []);
  });

  test('stands before the tables by which its rows are found', () => {
    const later = new Set(organizationTables.slice(organizationTables.findIndex((one) => one.table === table)).map((one) => one.table));
    const asked = rows.flatMap((condition) => [...condition.matchAll(/FROM (\w+)/g)].map(([, name]) => name));
    expect(asked.filter((name) => !later.has(name!))).toEqual([]);
  });
});

test('the migration gives old deliveries without a name a name that is not shown', async () => {
  const text = Object.values(
    import.meta.glob('../../migrations/0014_*.sql', { query: '?raw', import: 'default', eager: true }),
  )[0] as string;
  const update = text.split('\n').findLast((line) => line.startsWith('UPDATE'))!;
  const { meta } = await env.DB.prepare(
    "INSERT INTO webhook_delivery (organization_id, trigger_id, payload, created_at) VALUES (0, 0, '{}', 1)",
  ).run();
  await env.DB.prepare(update).run();
  const row = await env.DB.prepare('SELECT delivery_id FROM webhook_delivery WHERE id = ?')
    .bind(meta.last_row_id)
    .first<{ delivery_id: string }>();
  await env.DB.prepare('DELETE FROM webhook_delivery WHERE organization_id = 0').run();
  expect(row!.delivery_id).toMatch(/^request:/);
  expect(toSenderKey(row!.delivery_id)).toBeNull();
});

test('the folders of the bucket are those that the code writes to', async () => {
  const files = import.meta.glob('../../{src,durable-objects}/**/*.ts', { query: '?raw', import: 'default', eager: true }) as Record<
    string,
    string
  >;
  const written = Object.values(files).flatMap((text) => [...text.matchAll(/`([a-z_]+\/)\$\{/g)].map(([, folder]) => folder!));
  expect(new Set(written)).toEqual(new Set(organizationFolders));
});
