import { callDurableObject } from '../../library/platform/call-durable-object.ts';
import type { LiveSession, SessionStatus, TestTurn } from '../contract.ts';

/** The transcript of a session. The object has it while the session lives, R2 afterwards. Moments in epoch ms. */
export interface SessionTranscript {
  turns: TestTurn[];
  startedAt: number;
  /** Null while the two talk. */
  endedAt: number | null;
}

/** The key of a transcript in R2. */
export const sessionTranscriptKey = (organizationId: number, sessionId: number): string =>
  `simtest/${organizationId}/${sessionId}/conversation.json`;

/**
 * The RPC surface of a test session's object, which is named `{organization_id}/{session_id}`. Every method may be called again after a broken
 * call. `act` names one request of a person (a uuid), so that its repetition is no conflict. A session has no object before its start and
 * after its end: reads answer null.
 */
export interface TestSessionRpc {
  /** From pending to running. Throws 404, and 409 for a session that is not pending or whose agents are archived. */
  start(organizationId: number, sessionId: number, act: string): Promise<LiveSession>;
  /** Starts a session of a load test. Instead of refusing archived agents, it ends the session as failed. */
  startInLoadTest(organizationId: number, sessionId: number, act: string): Promise<{ status: SessionStatus }>;
  /** Ends a session at once, also while the checks are evaluated. Throws 409 unless it is running. */
  stop(act: string): Promise<LiveSession>;
  snapshot(): Promise<LiveSession | null>;
  transcript(): Promise<SessionTranscript | null>;
  /** Makes a stalled session go on, and makes the object of a session whose start broke off. The minute tick calls it. */
  wakeStalled(organizationId: number, sessionId: number): Promise<void>;
  /** The ended session, once its row shows the end. Null after `timeoutMs`, and when the object is gone. */
  waitForEnd(timeoutMs: number): Promise<LiveSession | null>;
  /** The organization is being deleted: the object deletes everything that it has. */
  deleteAllData(): Promise<void>;
}

/** Calls a session's object, and calls again when the call broke. */
export const callTestSessionObject = <Answer>(
  bindings: Env,
  organizationId: number,
  sessionId: number,
  call: (object: TestSessionRpc) => Promise<Answer>,
): Promise<Answer> =>
  callDurableObject(() => bindings.TEST_SESSION.getByName(`${organizationId}/${sessionId}`) as unknown as TestSessionRpc, call);
