import type { LoadTestObject } from '../../../durable-objects/load-test/load-test-object.ts';
import { callDurableObject } from '../../library/platform/call-durable-object.ts';

/** A load test's object as its callers see it: all that it takes and answers is plain data, which the platform's types cannot tell. */
export type LoadTestStub = Pick<LoadTestObject, Exclude<keyof LoadTestObject, 'alarm' | 'fetch'>>;

/** Calls a load test's object, again when the call broke: every method of it is repeatable. */
export const callLoadTestObject = <Answer>(
  bindings: Env,
  organizationId: number,
  loadTestId: number,
  call: (object: LoadTestStub) => Promise<Answer>,
): Promise<Answer> =>
  callDurableObject(() => bindings.LOAD_TEST.getByName(`${organizationId}/${loadTestId}`) as unknown as LoadTestStub, call);
