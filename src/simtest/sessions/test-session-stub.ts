import type { TestSessionObject } from '../../../durable-objects/test-session/test-session-object.ts';
import { callDurableObject } from '../../library/platform/call-durable-object.ts';

/** A session's object as its callers see it: all that it takes and answers is plain data, which the platform's types cannot tell. */
export type TestSessionStub = Pick<TestSessionObject, Exclude<keyof TestSessionObject, 'alarm' | 'fetch'>>;

/** Calls a session's object, again when the call broke: every method of it is repeatable. */
export const callTestSessionObject = <Answer>(
  bindings: Env,
  organizationId: number,
  sessionId: number,
  call: (object: TestSessionStub) => Promise<Answer>,
): Promise<Answer> =>
  callDurableObject(() => bindings.TEST_SESSION.getByName(`${organizationId}/${sessionId}`) as unknown as TestSessionStub, call);
