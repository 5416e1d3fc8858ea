import pRetry from 'p-retry';

/**
 * Calls a Durable Object, at most three times, each time through a new stub: a deploy, a crash or a move of the object breaks the call and the
 * stub. Every method of our objects is repeatable. An error of the object's own (with a `code`) and an overload are thrown at once.
 *
 * @example await callDurableObject(() => bindings.CAMPAIGN.getByName(name), (object) => object.pause())
 */
export const callDurableObject = <Stub, Answer>(stub: () => Stub, call: (object: Stub) => Promise<Answer>): Promise<Answer> =>
  pRetry(() => call(stub()), {
    retries: 2,
    minTimeout: 15,
    randomize: true,
    shouldRetry: ({ error }) => !('code' in error) && !('overloaded' in error && error.overloaded === true),
  });
