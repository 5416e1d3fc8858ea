import { isFullAt, measuredSize } from '../database/size.ts';
import { catalog } from '../database/shards.ts';
import { conflict } from '../library/errors.ts';
import { settingsOf } from '../settings.ts';

/** Throws 409 `database_full` when the database that new organizations go to has little room left. */
export async function requireSpace(bindings: Env): Promise<void> {
  if (isFullAt(await measuredSize(catalog(bindings)), settingsOf(bindings).DATABASE_LIMIT_MEGABYTES))
    throw conflict(
      'The service takes no new organizations for now: its database is nearly full; the operator can make room',
      'database_full',
    );
}
