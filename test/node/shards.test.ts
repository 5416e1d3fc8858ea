import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { withSecondDatabase } from '../../scripts/local/second-database.ts';
import { projectDirectory } from '../../scripts/local/settings.ts';
import { catalogTables } from '../../src/database/organization-tables.ts';
import { anchorsSql, idsPerShard, isNoAnchorSql, tablesWithoutAnchor } from '../../src/database/shard-anchors.ts';

/** Only the first database gives the ids of the catalog: it has the accounts, and what the audit log says of them, on whichever shard the organization is. */
const tablesOfCatalog = [...catalogTables, 'user', 'passkey'];

function newDatabase(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  const migrations = join(projectDirectory, 'migrations');
  for (const name of readdirSync(migrations).filter((file) => file.endsWith('.sql')))
    database.exec(readFileSync(join(migrations, name), 'utf8'));
  return database;
}

/** Tables that give a row its id. */
const tablesWithIds = (database: DatabaseSync): string[] =>
  database
    .prepare(
      `SELECT t.name FROM sqlite_master t JOIN pragma_table_info(t.name) c ON c.name = 'id' AND c.pk = 1 AND lower(c.type) = 'integer'
       WHERE t.type = 'table' AND instr(t.name, '_search_') = 0 ORDER BY t.name`,
    )
    .all()
    .map(({ name }) => String(name));

const anchoredTables = (database: DatabaseSync) =>
  tablesWithIds(database).filter((table) => ![...tablesOfCatalog, ...tablesWithoutAnchor].includes(table));

describe('the ids of a later shard', () => {
  test('begin where those of the shard before it end, in every table that gives ids', () => {
    const database = newDatabase();
    for (const sql of [...anchorsSql(2), ...anchorsSql(2)]) database.exec(sql);
    for (const table of anchoredTables(database))
      expect(database.prepare(`SELECT min(id) AS least, max(id) AS most, count(*) AS rows FROM ${table}`).get(), table).toEqual({
        least: 2 * idsPerShard,
        most: 2 * idsPerShard,
        rows: 1,
      });
    for (const table of tablesWithoutAnchor) expect(database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()).toEqual({ rows: 0 });
  });

  test('are given by every table with an anchor alone', () => {
    expect(
      anchorsSql(1)
        .map((sql) => /^INSERT INTO (\w+)/.exec(sql)![1]!)
        .toSorted(),
    ).toEqual(anchoredTables(newDatabase()));
  });

  test('go on behind the anchor, which is no row of anybody', () => {
    const database = newDatabase();
    for (const sql of anchorsSql(1)) database.exec(sql);
    const { id } = database
      .prepare(`INSERT INTO event (organization_id, event_type, data, created_at) VALUES (7, 'a', '{}', 1) RETURNING id`)
      .get()!;
    expect(id).toBe(idsPerShard + 1);
    const rows = database.prepare(`SELECT id FROM event WHERE ${isNoAnchorSql('id')}`).all();
    expect(rows).toEqual([{ id: idsPerShard + 1 }]);
  });

  test('have a place in whole numbers of JavaScript for 8,000 shards', () => {
    expect(Number.isSafeInteger(8000 * idsPerShard + idsPerShard - 1)).toBe(true);
  });
});

test('a local service has a second database beside the first, and nothing else is changed', () => {
  const text = readFileSync(join(projectDirectory, 'wrangler.toml'), 'utf8');
  const sharded = withSecondDatabase(text);
  expect(
    [...sharded.matchAll(/\[\[d1_databases\]\]\nbinding = "(\w+)"\ndatabase_name = "([\w-]+)"/g)].map(([, ...found]) => found),
  ).toEqual([
    ['DB', 'voice-agents'],
    ['DB_1', 'voice-agents-1'],
  ]);
  expect(sharded.replace(/\n\[\[d1_databases\]\]\nbinding = "DB_1"\n(?:\w+ = .*\n)+/, '')).toBe(text);
  expect(() => withSecondDatabase(sharded.replaceAll('"DB"', '"OTHER"'))).toThrow(/no \[\[d1_databases\]\]/);
});
