import { statusEvent } from '../../src/providers/telephony/carrier-events.ts';
import { giveUpUnbegunTalk, whyLineEnded } from '../../src/voice-agents/dialing/give-up-talk.ts';
import { isOver } from '../../src/voice-agents/dialing/attempt/attempt.ts';
import { afterListing, afterLookUp, knownEnd } from '../../src/voice-agents/dialing/attempt/after-look.ts';
import { lineEndWithoutVerdict } from '../../src/voice-agents/dialing/attempt/line-end.ts';
import { announceCalls } from '../../src/voice-agents/dialing/announce-calls.ts';
import { callObject } from '../../src/voice-agents/runs/call-object.ts';
import { settingsOf } from '../../src/settings.ts';
import { carrierOf } from '../../src/voice-agents/telephony-configs/carrier-of.ts';
import { callRunByKey } from '../../src/voice-agents/dialing/call-run-store.ts';
import type { StoredAttempt } from './attempt-rows.ts';
import { isGivenUp, withoutTalk } from './give-up.ts';
import type { SlotsBook } from './slots-book.ts';
import type { Surroundings } from './surroundings.ts';

const checksAtOnce = 6;
const mostChecks = 60;
const mostDecisions = 1000;
const watchMs = 2 * 60_000;

/** Looks after attempts of which nothing was heard in time: evidence is asked for, since a clock alone frees no slot. */
export class Checks {
  readonly #book: SlotsBook;
  readonly #around: Surroundings;
  #announce: string[] = [];
  #isAsking = false;

  constructor(book: SlotsBook, around: Surroundings) {
    this.#book = book;
    this.#around = around;
  }

  /** What is due and can be decided here. */
  decide(): void {
    const now = this.#around.now();
    for (const attempt of this.#book.rows.all('check_at <= ? ORDER BY check_at LIMIT ?', now, mostDecisions)) {
      if (attempt.state === 'granted') this.#announce.push(attempt.key);
      if (attempt.state === 'granted') this.#book.save(attempt, { ...attempt, checkAt: now + this.#around.patience().resendMs });
      else if (isOver(attempt) && attempt.settling !== 'watch') this.#book.save(attempt, { ...attempt, checkAt: null });
      else if (attempt.state === 'placed' && attempt.status === 'completed') this.#book.save(attempt, lineEndWithoutVerdict(attempt));
    }
  }

  /** What is due and needs an answer from outside, at most 60; one round at a time. */
  async ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      const keys = this.#announce.splice(0);
      if (keys.length) await announceCalls(this.#around.env(), this.#around.organizationId(), keys);
      const due = this.#book.rows.all('check_at <= ? ORDER BY check_at LIMIT ?', this.#around.now(), mostChecks).map(({ key }) => key);
      const worker = async () => {
        for (let key = due.shift(); key !== undefined; key = due.shift())
          await this.#askFor(key).catch((error: unknown) => this.#around.log().error('a call could not be checked', error));
      };
      await Promise.all(Array.from({ length: checksAtOnce }, worker));
    } catch (error) {
      this.#around.log().error('granted calls could not be announced again', error);
    } finally {
      this.#isAsking = false;
    }
  }

  async #askFor(key: string): Promise<void> {
    const now = this.#around.now();
    // As it is now: those before it in the line took their time.
    const attempt = this.#book.rows.find(key);
    if (!attempt || attempt.checkAt === null || attempt.checkAt > now || attempt.state === 'granted') return;
    const patience = this.#around.patience();
    if (isOver(attempt)) return this.#pokeTalk(attempt, now);
    // Moved on before the carrier is asked, so that a crash does not ask again at once.
    this.#book.save(attempt, { ...attempt, checkAt: now + patience.lookAgainMs });
    const context = await this.#around.context();
    const carrier = attempt.configId === null ? null : await carrierOf(context, attempt.configId);
    const gone = { failure: 'the telephony configuration of this call was deleted' };
    if (attempt.state === 'placed') {
      const result = carrier ? knownEnd(attempt, await carrier.telephony.lookUp(attempt.callId!)) : gone;
      if (carrier && 'call' in result && result.call.status === 'completed' && attempt.hasTalk) {
        // As when the carrier tells it: a talk that never began is none.
        const address = { organizationId: context.organization.id, configId: carrier.id, runId: attempt.runId!, key };
        const event = statusEvent({ ...result.call, at: this.#around.now() });
        const call = { context, carrier, address, event };
        await giveUpUnbegunTalk(call, () => whyLineEnded(call));
      }
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
    try {
      const isThere = await callObject(this.#around.env(), this.#around.organizationId(), attempt.runId!, (object) => object.poke());
      if (!isThere) this.#book.settled([attempt.key]);
    } catch (error) {
      if (!isGivenUp(attempt, now, settingsOf(this.#around.env()).GIVE_UP_AFTER_HOURS)) throw error;
      this.#book.change(attempt.key, (current) => (current.settling === 'watch' ? withoutTalk(current, error) : current));
    }
  }
}
