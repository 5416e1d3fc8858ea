import { isFullAt, readMeasuredSize } from '../../database/database-size.ts';
import { catalog } from '../../database/shards.ts';
import { conflict } from '../../library/errors.ts';
import { getSettings } from '../../settings.ts';

/** Throws 409 `database_full` when the database that new organizations go to has little room left. */
export async function requireDatabaseSpace(bindings: Env): Promise<void> {
  if (isFullAt(await readMeasuredSize(catalog(bindings)), getSettings(bindings).DATABASE_LIMIT_MEGABYTES))
    throw conflict(
      'The service takes no new organizations for now: its database is nearly full; the operator can make room',
      'database_full',
    );
}
