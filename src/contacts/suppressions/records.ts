import type { z } from '@hono/zod-openapi';
import { nullableTimestamp, toTimestamp } from '../../library/time/clock.ts';
import type { SuppressionRecord } from './schemas.ts';
import type { SuppressionRow } from './store.ts';

/** A suppression as it is shown to the organization. */
export const toSuppressionRecord = (row: SuppressionRow): z.infer<typeof SuppressionRecord> => ({
  ...row,
  until: nullableTimestamp(row.until),
  created_at: toTimestamp(row.created_at),
  restored_at: nullableTimestamp(row.restored_at),
});
