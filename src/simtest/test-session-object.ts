import type { TestSessionObject } from '../../durable-objects/test-session/test-session-object.ts';
import { callDurable } from '../library/call-durable.ts';

/** A session's object as its callers see it: all that it takes and answers is plain data, which the platform's types cannot tell. */
export type TestSessionStub = Pick<TestSessionObject, Exclude<keyof TestSessionObject, 'alarm' | 'fetch'>>;

/** Calls a session's object, again when the call broke: every method of it is repeatable. */
export const testSessionObject = <Answer>(
  bindings: Env,
  organizationId: number,
  sessionId: number,
  call: (object: TestSessionStub) => Promise<Answer>,
): Promise<Answer> =>
  callDurable(() => bindings.TEST_SESSION.getByName(`${organizationId}/${sessionId}`) as unknown as TestSessionStub, call);
