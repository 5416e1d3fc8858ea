import { writeConfigVariant } from './config-variant.ts';

const firstDatabase = /\n\[\[d1_databases\]\]\nbinding = "DB"\n(?:\w+ = .*\n)+/;

/** `wrangler.toml` with a second database, bound as `DB_1`. */
export function withSecondDatabase(text: string): string {
  const found = firstDatabase.exec(text)?.[0];
  if (found === undefined) throw new Error('wrangler.toml has no [[d1_databases]] with the binding DB');
  const second = found
    .replace('"DB"', '"DB_1"')
    .replace(/database_name = "([\w-]+)"/, 'database_name = "$1-1"')
    .replace(/database_id = ".*"/, 'database_id = "00000000-0000-0000-0000-000000000001"');
  return text.replace(found, `${found}${second}`);
}

/** Writes that file, and answers its path. */
export const writeShardedConfig = (): string => writeConfigVariant('sharded', withSecondDatabase);
