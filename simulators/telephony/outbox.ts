import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallSettings } from './settings.ts';

/** A request of the carrier to the customer. */
export interface Callback {
  /** Its event, for `/__sim/emit`: initiated, ringing, answered, ended, machine, recording, answer, action ... */
  event: string;
  account: string;
  sid: string;
  method: 'GET' | 'POST';
  url: string;
  body: string;
  /** All headers with the signature; made again for every try. */
  headers: () => Record<string, string>;
}

export type CallbackAnswer = { status: number; body: string } | { failure: string };

interface DueEntry {
  id: string;
  callback: Callback;
  settle: (answer: CallbackAnswer) => void;
}

export type OutboxSettings = Pick<CallSettings, 'callbacks' | 'retry_delays_ms'>;

const maxStoredCalls = 2_000;
const answerTimeoutMs = 15_000;

/** Sends callbacks and tries them again, or holds them until a test fetches them. */
export class Outbox {
  readonly #settings: OutboxSettings;
  readonly #signal: AbortSignal;
  readonly #sent = new Map<string, Callback[]>();
  readonly #due: DueEntry[] = [];
  readonly #handedOut = new Map<string, DueEntry>();
  #somethingDue = Promise.withResolvers<void>();

  constructor(settings: OutboxSettings, signal: AbortSignal) {
    this.#settings = settings;
    this.#signal = signal;
  }

  /** Sends a callback, and tries again after a failure of the other side. Resolves with the last answer. */
  async notify(callback: Callback): Promise<CallbackAnswer> {
    this.#remember(callback);
    return this.#try(callback, this.#settings.retry_delays_ms);
  }

  /** Asks for the next instructions of a live line. Tried twice, since a person waits. */
  async ask(callback: Callback): Promise<CallbackAnswer> {
    this.#remember(callback);
    return this.#try(callback, this.#settings.retry_delays_ms.slice(0, 1));
  }

  async #try(callback: Callback, delaysMs: number[]): Promise<CallbackAnswer> {
    if (this.#settings.callbacks === 'hold') return this.#hold(callback);
    for (let tries = 0; ; tries++) {
      const answer = await this.sendOnce(callback);
      const isTaken = 'status' in answer && answer.status < 500 && answer.status !== 429;
      if (isTaken || tries >= delaysMs.length || this.#signal.aborted) return answer;
      await sleep(delaysMs[tries], undefined, { signal: this.#signal, ref: false }).catch(() => undefined);
    }
  }

  async sendOnce({ method, url, body, headers }: Callback): Promise<CallbackAnswer> {
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(answerTimeoutMs)]);
    try {
      const response = await fetch(url, { method, headers: headers(), body: method === 'GET' ? null : body, redirect: 'manual', signal });
      return { status: response.status, body: await response.text() };
    } catch (error) {
      const { cause, message } = error as Error;
      return { failure: cause instanceof Error ? cause.message : message };
    }
  }

  #remember(callback: Callback): void {
    const known = this.#sent.get(callback.sid);
    if (known) known.push(callback);
    else this.#sent.set(callback.sid, [callback]);
    if (this.#sent.size > maxStoredCalls) this.#sent.delete(this.#sent.keys().next().value!);
  }

  /** The callbacks of a call that were sent or are due, in order. */
  listSent(sid: string): Callback[] {
    return this.#sent.get(sid) ?? [];
  }

  #hold(callback: Callback): Promise<CallbackAnswer> {
    const { promise, resolve } = Promise.withResolvers<CallbackAnswer>();
    this.#due.push({ id: randomUUID(), callback, settle: resolve });
    this.#somethingDue.resolve();
    this.#somethingDue = Promise.withResolvers();
    return promise;
  }

  /** Hands out the held callbacks, oldest first. Without any, waits up to `waitMs` for one. */
  async takeDue(account: string | undefined, waitMs: number): Promise<{ id: string; callback: Callback }[]> {
    const deadline = Date.now() + waitMs;
    for (;;) {
      const taken = this.#due.filter(({ callback }) => account === undefined || callback.account === account);
      if (taken.length > 0) {
        for (const entry of taken) {
          this.#due.splice(this.#due.indexOf(entry), 1);
          this.#handedOut.set(entry.id, entry);
        }
        return taken;
      }
      const leftMs = deadline - Date.now();
      if (leftMs <= 0 || this.#signal.aborted) return [];
      const ending = AbortSignal.any([this.#signal, AbortSignal.timeout(leftMs)]);
      await Promise.race([this.#somethingDue.promise, aborted(ending)]);
    }
  }

  /** Takes the customer's answer to a callback that was handed out. Returns false for an unknown one. */
  settle(id: string, answer: CallbackAnswer): boolean {
    const entry = this.#handedOut.get(id);
    this.#handedOut.delete(id);
    entry?.settle(answer);
    return entry !== undefined;
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
