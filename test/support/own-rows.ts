import { env } from 'cloudflare:workers';
import { shardBindings } from '../../src/database/shards.ts';
import { getSettings } from '../../src/settings.ts';

/** The database with the rows of new organizations; accounts are in `DB`. */
export const ownRows: D1Database = shardBindings(env)[getSettings(env).FIRST_OPEN_SHARD]!.binding;
