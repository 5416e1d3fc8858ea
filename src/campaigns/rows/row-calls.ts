import type { Context } from '../../context.ts';
import { findCalls } from '../../calls/listing/list-calls.ts';
import type { CallRecord } from '../../calls/listing/schemas.ts';
import type { RowRecord } from '../rpc.ts';

/** A call of a row. `attempt` is its number within the row, from 1. */
export interface RowCall {
  attempt: number;
  call: CallRecord;
}

/** A row with those of its calls that are stored, oldest first. */
export type RowWithCalls<Row extends Pick<RowRecord, 'run_ids'> = RowRecord> = Row & { calls: RowCall[] };

/** The rows with their calls, which one D1 call reads. `apiUrl` includes the base path, without a slash at its end. */
export async function withCalls<Row extends Pick<RowRecord, 'run_ids'>>(
  context: Context,
  apiUrl: string,
  rows: Row[],
): Promise<RowWithCalls<Row>[]> {
  // 0 stands for an attempt whose run is unknown.
  const ids = [...new Set(rows.flatMap((row) => row.run_ids))].filter((id) => id !== 0);
  const byId = await findCalls(context, apiUrl, ids);
  return rows.map((row) => {
    const calls = row.run_ids.flatMap((id, index) => {
      const call = byId.get(id);
      return call ? [{ attempt: index + 1, call }] : [];
    });
    return { ...row, calls };
  });
}
