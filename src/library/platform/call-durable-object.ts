const maxAttempts = 3;

/**
 * Calls a Durable Object. A deploy, a crash or a move breaks the call and the stub it was made on; every method of our objects is
 * repeatable, so the call is made again on a new one.
 */
export async function callDurableObject<Stub, Answer>(stub: () => Stub, call: (object: Stub) => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(stub());
    } catch (error) {
      const isOverloaded = (error as { overloaded?: boolean }).overloaded === true;
      // What the object itself says would be said again.
      const isOwn = error instanceof Error && 'code' in error;
      if (attempt === maxAttempts || isOverloaded || isOwn) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20 * attempt));
    }
  }
}
