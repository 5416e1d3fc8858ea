/** Measures how long objects are busy. Work that an object does at the same time counts once. */
export class ActiveTimes {
  readonly #busy = new Map<string, { things: number; since: number }>();
  readonly #onIdle: (milliseconds: number) => void;

  /** `onIdle` gets the busy time of an object when it becomes idle. */
  constructor(onIdle: (milliseconds: number) => void) {
    this.#onIdle = onIdle;
  }

  /** Counts the object as busy while `work` lasts. */
  async during<Answer>(object: string, work: () => Answer | Promise<Answer>): Promise<Answer> {
    const busy = this.#busy.get(object) ?? { things: 0, since: Date.now() };
    this.#busy.set(object, busy);
    busy.things++;
    try {
      return await work();
    } finally {
      if (--busy.things === 0) {
        this.#busy.delete(object);
        this.#onIdle(Date.now() - busy.since);
      }
    }
  }
}
