import { callDurableObject } from '../../library/platform/call-durable-object.ts';
import type { SessionReport } from '../contract.ts';
import type { LiveStatistics } from './statistics.ts';

/**
 * The RPC surface of a load test's object, which is named `{organization_id}/{load_test_id}`. Every method may be called again after a broken
 * call. The object goes once the load test's row has the final statistics.
 */
export interface LoadTestRpc {
  /** Starts the sessions. Does nothing when they were started before, and for an unknown load test. */
  begin(organizationId: number, loadTestId: number): Promise<void>;
  /** Counts a session that has ended. After the answer, the session need not report again. Reports may repeat and be late. */
  sessionEnded(report: SessionReport): Promise<void>;
  /** Null when the object is gone: the row has the statistics. */
  statistics(): Promise<LiveStatistics | null>;
  /** No session starts after the answer, and running ones are being stopped. `act` names one request. Throws 409 unless running. */
  stop(act: string): Promise<void>;
  /** Makes a stalled load test go on, and makes the object of a load test whose start broke off. The minute tick calls it. */
  wakeStalled(organizationId: number, loadTestId: number): Promise<void>;
  /** The organization is being deleted: the object deletes everything that it has. */
  deleteAllData(): Promise<void>;
}

/** Calls a load test's object, and calls again when the call broke. */
export const callLoadTestObject = <Answer>(
  bindings: Env,
  organizationId: number,
  loadTestId: number,
  call: (object: LoadTestRpc) => Promise<Answer>,
): Promise<Answer> =>
  callDurableObject(() => bindings.LOAD_TEST.getByName(`${organizationId}/${loadTestId}`) as unknown as LoadTestRpc, call);
