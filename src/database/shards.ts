import { getSettings } from '../settings.ts';
import { Database } from './client.ts';

const databasesByBindings = new WeakMap<object, Database[]>();

/**
 * The databases, in shard order: `DB`, `DB_1`, `DB_2` ... as far as they are bound. The ids of shard k begin at k * 2^40
 * (`shard-anchors.ts`). Organizations stay on the shard that their catalog row names.
 */
export function shards(bindings: Env): Database[] {
  const known = databasesByBindings.get(bindings);
  if (known) return known;
  const isGuarded = getSettings(bindings).DEPLOYMENT_MODE === 'local';
  const all = shardBindings(bindings).map(({ binding }, number) => new Database(binding, isGuarded, number === 0));
  databasesByBindings.set(bindings, all);
  return all;
}

/** The bindings behind `shards`, with their names. */
export function shardBindings(bindings: Env): { name: string; binding: D1Database }[] {
  const all: { name: string; binding: D1Database }[] = [];
  for (let number = 0; ; number++) {
    const name = number === 0 ? 'DB' : `DB_${number}`;
    const binding = (bindings as unknown as Record<string, D1Database | undefined>)[name];
    if (!binding) return all;
    all.push({ name, binding });
  }
}

export function shard(bindings: Env, number: number): Database {
  const database = shards(bindings)[number];
  if (!database) throw new Error(`Shard ${number} is not bound; add DB_${number} to wrangler.toml`);
  return database;
}

/** Accounts live in the first database. */
export const catalog = (bindings: Env): Database => shard(bindings, 0);
