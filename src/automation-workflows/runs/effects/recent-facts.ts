import type { Contact } from '../../../contacts/contacts/contact.ts';
import type { Clock } from '../../../library/time/clock.ts';
import type { RunPermission } from '../store.ts';

const maxAgeMs = 250;

interface Fact<Value> {
  value: Value;
  readAt: number;
}

/**
 * The contact and the permission as the last steps read them, for the next steps of the same advance. They are forgotten after a moment, and
 * before each effect that reaches outside, since whoever answers it may change either.
 */
export class RecentFacts {
  #contact: Fact<Contact | null> | null = null;
  #permission: Fact<RunPermission | null> | null = null;
  readonly #now: Clock;

  constructor(now: Clock) {
    this.#now = now;
  }

  /** Null: the contact does not exist. Undefined: it must be read. */
  contact(): Contact | null | undefined {
    return this.#recent(this.#contact);
  }

  /** Null: the run has no row. Undefined: it must be read. */
  permission(): RunPermission | null | undefined {
    return this.#recent(this.#permission);
  }

  setContact(value: Contact | null): void {
    this.#contact = { value, readAt: this.#now() };
  }

  setPermission(value: RunPermission | null): void {
    this.#permission = { value, readAt: this.#now() };
  }

  forgetContact(): void {
    this.#contact = null;
  }

  forget(): void {
    this.#contact = null;
    this.#permission = null;
  }

  #recent<Value>(fact: Fact<Value> | null): Value | undefined {
    const age = fact === null ? Infinity : this.#now() - fact.readAt;
    return age >= 0 && age <= maxAgeMs ? fact!.value : undefined;
  }
}
