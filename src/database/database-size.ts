import type { Database } from './client.ts';
import { shards, shardBindings } from './shards.ts';

/** From this share of its limit on, a database takes no new organizations. Organizations that it has go on. */
export const fullRatio = 0.6;

export interface DatabaseSize {
  /** The binding: `DB`, `DB_1` ... */
  name: string;
  bytes: number;
  limitBytes: number;
  isFull: boolean;
}

const bytesKey = 'database_bytes';
const megabyte = 1_000_000;

/** Measures the database and stores the size for requests. Returns bytes; null when D1 does not say. */
export async function measureSize(database: Database): Promise<number | null> {
  const bytes = await database.readSizeBytes();
  if (bytes === null) return null;
  await database.all(
    database.prepare(
      'INSERT INTO progress (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value',
      bytesKey,
      bytes,
    ),
    'progress.name',
  );
  return bytes;
}

/** The size that the minute tick measured last, in bytes; 0 before the first tick. */
export async function readMeasuredSize(database: Database): Promise<number> {
  const row = await database.first(database.prepare<{ value: number }>('SELECT value FROM progress WHERE name = ?', bytesKey));
  return row?.value ?? 0;
}

export const isFullAt = (bytes: number, limitMegabytes: number): boolean => bytes >= fullRatio * limitMegabytes * megabyte;

/** The size of every bound database. */
export async function readDatabaseSizes(bindings: Env, limitMegabytes: number): Promise<DatabaseSize[]> {
  const names = shardBindings(bindings).map(({ name }) => name);
  return Promise.all(
    shards(bindings).map(async (database, index) => {
      const bytes = await readMeasuredSize(database);
      return { name: names[index]!, bytes, limitBytes: limitMegabytes * megabyte, isFull: isFullAt(bytes, limitMegabytes) };
    }),
  );
}
