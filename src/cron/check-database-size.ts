import type { Database } from '../database/client.ts';
import { fullRatio, isFullAt, readMeasuredSize, measureSize } from '../database/database-size.ts';
import type { Logger } from '../library/platform/log.ts';

const isHourly = (now: number) => Math.floor(now / 60_000) % 60 === 0;

/** Measures a database, and warns when it has become full, then every hour. */
export async function checkDatabaseSize(database: Database, name: string, limitMegabytes: number, now: number, log: Logger): Promise<void> {
  const before = await readMeasuredSize(database);
  const bytes = await measureSize(database);
  if (bytes === null || !isFullAt(bytes, limitMegabytes)) return;
  if (isFullAt(before, limitMegabytes) && !isHourly(now)) return;
  log.warn(`a database is over ${fullRatio * 100} % of its limit; it takes no new organizations`, {
    database: name,
    bytes,
    limit_bytes: limitMegabytes * 1_000_000,
  });
}
