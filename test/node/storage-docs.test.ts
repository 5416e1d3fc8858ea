import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getTableColumns, getTableName, isTable, type Table } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { archiveRules } from '../../src/cron/retention/archive-rules.ts';
import { tablesWithoutRetention } from '../../src/cron/retention/tables-without-retention.ts';
import { retentionRules } from '../../src/cron/retention/apply-retention.ts';
import { organizationFolders } from '../../src/database/organization-tables.ts';
import * as schema from '../../src/database/schema/index.ts';
import { getSettings } from '../../src/settings.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const page = read('docs/storage.md');

const sorted = (items: Iterable<string>) => [...items].toSorted();

/** The cells of the table rows under a heading whose first cell is a word in backticks; '' is what stands before the first heading. */
function rowsUnder(heading: string): Map<string, string[]> {
  const sections = page.split(/^## /m);
  const section = heading === '' ? sections[0]! : sections.find((text) => text.startsWith(`${heading}\n`))!;
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return new Map(
    rows.map((line) => {
      const [name, ...cells] = line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim());
      return [name!.replaceAll('`', ''), cells];
    }),
  );
}

const tables = rowsUnder('The database');
const until = (table: string) => tables.get(table)![1]!;
const isArchived = (table: string) => tables.get(table)![2]!;
const ofDeletedContact = (table: string) => tables.get(table)![3]!;

describe('docs/storage.md', () => {
  test('lists every table of the schema once, and those of full-text search', () => {
    const migrations = readdirSync(join(root, 'migrations')).filter((name) => name.endsWith('.sql'));
    const searches = migrations.flatMap((name) =>
      [...read(`migrations/${name}`).matchAll(/CREATE VIRTUAL TABLE (\w+)/g)].map(([, table]) => table!),
    );
    const named = Object.values(schema)
      .filter((value) => isTable(value))
      .map((table) => getTableName(table as Table));
    expect(sorted(tables.keys())).toEqual(sorted([...named, ...searches]));
    expect(page.split('\n').filter((line) => line.startsWith('| `'))).toHaveLength(
      new Set(page.split('\n').filter((line) => line.startsWith('| `'))).size,
    );
  });

  test.each(retentionRules.map(({ table, setting }) => [table, setting] as const))('says until when %s is kept', (table, setting) => {
    const named = [...until(table).matchAll(/`(\w+_DAYS)`/g)].map(([, name]) => name);
    expect(named).toEqual(setting === undefined ? [] : [setting]);
  });

  test.each(Object.keys(tablesWithoutRetention))('names no retention for %s, which has none', (table) => {
    expect(until(table)).not.toContain('_DAYS');
  });

  test('says which rows are archived', () => {
    const documented = [...tables.keys()].filter((table) => isArchived(table) === 'yes');
    expect(sorted(documented)).toEqual(sorted(archiveRules.map(({ table }) => table)));
    for (const table of tables.keys()) expect(['yes', 'no']).toContain(isArchived(table));
  });

  test('says of every table that names a contact what is left of it', () => {
    const naming = Object.values(schema).flatMap((value) => {
      if (!isTable(value)) return [];
      const columns = Object.values(getTableColumns(value as Table)).map(({ name }) => name);
      return columns.some((name) => ['contact_id', 'phone', 'recipient', 'entry_key'].includes(name)) ? [getTableName(value as Table)] : [];
    });
    expect(naming.length).toBeGreaterThan(8);
    for (const table of naming)
      expect([table, ofDeletedContact(table)]).not.toEqual([table, expect.stringMatching(/^(names nobody|not touched)?$/)]);
  });

  test('lists the settings with their defaults', () => {
    const key = Buffer.alloc(32).toString('base64');
    const defaults = getSettings({ ENCRYPTION_KEY: key, SIGNING_KEY: key } as Env);
    const documented = [...rowsUnder('')].map(([name, [standard]]) => [name, standard]);
    const expected = Object.entries(defaults)
      .filter(([name]) => name.endsWith('_DAYS'))
      .map(([name, value]) => [name, String(value)]);
    expect(documented.toSorted()).toEqual(expected.toSorted());
  });

  test('lists every folder of the bucket and every class of objects', () => {
    expect(sorted(rowsUnder('The bucket').keys())).toEqual(sorted(organizationFolders));
    const classes = [...read('wrangler.toml').matchAll(/\[\[durable_objects\.bindings\]\]\s+name = "(\w+)"/g)].map(([, name]) => name!);
    expect(sorted(rowsUnder('Durable Objects').keys())).toEqual(sorted(classes));
  });

  test.each(['README.md', 'CONTRIBUTING.md'])('is linked from %s', (file) => {
    expect(read(file)).toContain('](docs/storage.md)');
  });
});
