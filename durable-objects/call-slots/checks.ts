import { isOver } from '../../src/voice-agents/dialing/attempt/attempt.ts';
import { afterListing, afterLookUp } from '../../src/voice-agents/dialing/attempt/after-look.ts';
import { lineEndWithoutVerdict } from '../../src/voice-agents/dialing/attempt/line-end.ts';
import { announceCalls } from '../../src/voice-agents/dialing/announce-calls.ts';
import { callObject } from '../../src/voice-agents/runs/call-object.ts';
import { carrierOf } from '../../src/voice-agents/telephony-configs/carrier-of.ts';
import { callRunByKey } from '../../src/voice-agents/dialing/run-rows.ts';
import type { StoredAttempt } from './attempt-rows.ts';
import type { SlotsBook } from './slots-book.ts';
import type { Surroundings } from './surroundings.ts';

const checksAtOnce = 6;
const mostChecks = 60;
const watchMs = 2 * 60_000;

/** Looks after attempts of which nothing was heard in time: evidence is asked for, since a clock alone frees no slot. */
export class Checks {
  readonly #book: SlotsBook;
  readonly #around: Surroundings;

  constructor(book: SlotsBook, around: Surroundings) {
    this.#book = book;
    this.#around = around;
  }

  /** Those that are due, at most 60. */
  async all(): Promise<void> {
    const now = this.#around.now();
    const due = this.#book.rows.all('check_at <= ? ORDER BY check_at LIMIT ?', now, mostChecks);
    const worker = async () => {
      for (let attempt = due.shift(); attempt; attempt = due.shift())
        await this.#checkOne(attempt.key).catch((error: unknown) => this.#around.log().error('a call could not be checked', error));
    };
    await Promise.all(Array.from({ length: checksAtOnce }, worker));
  }

  async #checkOne(key: string): Promise<void> {
    const now = this.#around.now();
    // As it is now: those before it in the line took their time.
    const attempt = this.#book.rows.find(key);
    if (!attempt || attempt.checkAt === null || attempt.checkAt > now) return;
    const patience = this.#around.patience();
    if (attempt.state === 'granted') {
      this.#book.save(attempt, { ...attempt, checkAt: now + patience.resendMs });
      return announceCalls(this.#around.env(), this.#around.organizationId(), [attempt.key]);
    }
    if (isOver(attempt)) return this.#pokeTalk(attempt, now);
    if (attempt.status === 'completed') {
      this.#book.save(attempt, lineEndWithoutVerdict(attempt));
      return;
    }
    // Moved on before the carrier is asked, so that a crash does not ask again at once.
    this.#book.save(attempt, { ...attempt, checkAt: now + patience.lookAgainMs });
    const context = await this.#around.context();
    const carrier = attempt.configId === null ? null : await carrierOf(context, attempt.configId);
    const gone = { failure: 'the telephony configuration of this call was deleted' };
    if (attempt.state === 'placed') {
      const result = carrier ? await carrier.telephony.lookUp(attempt.callId!) : gone;
      this.#book.change(attempt.key, (current) => afterLookUp(current, result, this.#around.now(), patience));
    } else {
      const { phone: to, ownNumber, submittedAt, key: attemptKey } = attempt;
      // Whoever died before the answer may not have told which run the call is.
      const run = await context.database.first<{ id: number }>(callRunByKey(context.database, context.organization.id, attemptKey));
      const result = carrier ? await carrier.telephony.list({ to, from: ownNumber!, since: submittedAt!, attemptKey }) : gone;
      const foreign =
        'calls' in result
          ? this.#book.foreignCalls(
              attempt,
              result.calls.map(({ callId }) => callId),
            )
          : new Set<string>();
      this.#book.change(attempt.key, (current) =>
        afterListing({ ...current, runId: current.runId ?? run?.id ?? null }, result, foreign, this.#around.now(), patience),
      );
    }
  }

  async #pokeTalk(attempt: StoredAttempt, now: number): Promise<void> {
    if (attempt.settling !== 'watch') return this.#book.save(attempt, { ...attempt, checkAt: null });
    this.#book.save(attempt, { ...attempt, checkAt: now + watchMs });
    const isThere = await callObject(this.#around.env(), this.#around.organizationId(), attempt.runId!, (object) => object.poke());
    if (!isThere) this.#book.settled([attempt.key]);
  }
}
