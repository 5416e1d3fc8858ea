const maxAttempts = 3;

/**
 * Calls a Durable Object, at most three times, each time through a new stub: a deploy, a crash or a move of the object breaks the call and the
 * stub. Every method of our objects is repeatable. An error of the object's own (with a `code`) and an overload are thrown at once.
 *
 * @example await callDurableObject(() => bindings.CAMPAIGN.getByName(name), (object) => object.pause())
 */
export async function callDurableObject<Stub, Answer>(stub: () => Stub, call: (object: Stub) => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(stub());
    } catch (error) {
      const isOverloaded = (error as { overloaded?: boolean }).overloaded === true;
      const isOwn = error instanceof Error && 'code' in error;
      if (attempt === maxAttempts || isOverloaded || isOwn) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20 * attempt));
    }
  }
}
