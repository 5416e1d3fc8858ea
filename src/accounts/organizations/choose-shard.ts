import { isFullAt, readMeasuredSize } from '../../database/database-size.ts';
import { anchorShard } from '../../database/shard-anchors.ts';
import { shards } from '../../database/shards.ts';
import { conflict } from '../../library/errors.ts';
import { getSettings } from '../../settings.ts';

/**
 * The number of the shard for a new organization: the first from FIRST_OPEN_SHARD on that has room, ready for its rows. Throws 409
 * `database_full` when none has.
 */
export async function chooseShard(bindings: Env): Promise<number> {
  const { FIRST_OPEN_SHARD, DATABASE_LIMIT_MEGABYTES } = getSettings(bindings);
  for (const [number, database] of shards(bindings).entries()) {
    if (number < FIRST_OPEN_SHARD || isFullAt(await readMeasuredSize(database), DATABASE_LIMIT_MEGABYTES)) continue;
    await anchorShard(database, number);
    return number;
  }
  throw conflict(
    'The service takes no new organizations for now: its database is nearly full; the operator can make room',
    'database_full',
  );
}
