import type { Logger } from '../../src/library/log.ts';
import type { LanguageModel } from '../../src/providers/language-model/language-model.ts';
import { untold } from '../../src/simtest/checks.ts';
import type { CheckResult, LiveSession, Speaker, StopReason } from '../../src/simtest/contract.ts';
import { resultsOf } from '../../src/simtest/results.ts';
import type { StoredTalk } from '../../src/simtest/stored-talk.ts';
import type { Conversation } from '../../src/voice-agents/conversation/conversation.ts';
import { speakers, type Dialogue } from './dialogue.ts';
import { checkResults, concludeBoth, judgeNext } from './judging.ts';
import type { Progress, StoredSession } from './stored-session.ts';

export interface CourseParts {
  storage: DurableObjectStorage;
  session: StoredSession;
  dialogue: Dialogue;
  conversationOf(speaker: Speaker): Conversation;
  model(): LanguageModel;
  log(): Logger;
  now(): number;
  /** Told when the session has ended, in the transaction that says so. */
  ended(): void;
}

type End = Pick<Progress, 'status' | 'stopReason' | 'error'> & Partial<Pick<Progress, 'lastAct'>>;

/** A session from its first turn to its results: the two talk, then it is found out what that led to and whether the checks hold. */
export class Course {
  readonly #parts: CourseParts;
  /** What is under way is not waited for any longer. */
  readonly #stopped = Promise.withResolvers<void>();

  constructor(parts: CourseParts) {
    this.#parts = parts;
  }

  get isRunning(): boolean {
    return this.#parts.session.progress.status === 'running';
  }

  get live(): LiveSession {
    const { status, results, error, startedAt, completedAt } = this.#parts.session.progress;
    return { status, results, error, startedAt, completedAt };
  }

  /** What has been said so far. */
  get talk(): StoredTalk {
    const { startedAt, talkEndedAt } = this.#parts.session.progress;
    const turns = this.#parts.dialogue.turns.map(({ wasSilent: _wasSilent, ...turn }) => turn);
    return { turns, startedAt, endedAt: talkEndedAt };
  }

  /** Does the next step of a running session. Answers when the one after it is due, in epoch ms. */
  async step(): Promise<number> {
    const isTalking = this.#parts.session.progress.stopReason === null;
    return isTalking ? this.#talk() : this.#judge();
  }

  async #talk(): Promise<number> {
    const { session, dialogue, now } = this.#parts;
    const { config } = session.facts;
    const { startedAt } = session.progress;
    const deadline = startedAt + config.max_duration_seconds * 1000;
    const reason = dialogue.stopReason(startedAt);
    if (reason) {
      this.#endTalk(reason);
      return now();
    }
    const isInTime = await within(deadline - now(), dialogue.takeTurn(this.#stopped.promise));
    if (!isInTime && this.isRunning) this.#endTalk('max_duration');
    if (!this.isRunning || session.progress.stopReason !== null || dialogue.stopReason(startedAt)) return now();
    return Math.min(now() + config.turn_delay_ms, deadline);
  }

  #endTalk(stopReason: StopReason): void {
    const { storage, session, dialogue, now } = this.#parts;
    if (stopReason === 'error') return this.#cut({ status: 'failed', stopReason, error: this.#modelError() }, 'the talk ended in an error');
    storage.transactionSync(() => {
      dialogue.end();
      session.change({ stopReason, talkEndedAt: now() });
    });
  }

  #modelError(): string {
    const { sides } = this.#parts.dialogue;
    const speaker = speakers.find((one) => sides[one].state?.end?.reason === 'error')!;
    const failure = sides[speaker].events.findLast(({ type }) => type === 'model_failed');
    return `The language model of the ${speaker} failed: ${String(failure?.payload['message'])}`;
  }

  async #judge(): Promise<number> {
    const { session, dialogue, conversationOf, now } = this.#parts;
    const isWanted = () => this.isRunning;
    const judging = { session, dialogue, conversationOf, model: this.#parts.model(), log: this.#parts.log(), isWanted };
    const againMs = await this.#orStopped(concludeBoth(judging));
    if (!this.isRunning) return now();
    if (typeof againMs === 'number') return now() + againMs;
    const hasJudged = await this.#orStopped(judgeNext(judging));
    if (this.isRunning && !hasJudged) {
      const { stopReason } = session.progress;
      this.#end({ status: 'completed', stopReason, error: null }, this.#checks(null));
    }
    return now();
  }

  /** What is left behind by a stop may fail unheard. */
  #orStopped<T>(work: Promise<T>): Promise<T | void> {
    work.catch(() => {});
    return Promise.race([work, this.#stopped.promise]);
  }

  /** Somebody has had enough of it: it is judged by what was said, as far as that can be told at once. */
  stop(act: string): void {
    this.#cut({ status: 'stopped', stopReason: 'stopped', error: null, lastAct: act }, 'the session was stopped before');
  }

  /** It cannot go on, nor be told what it came to. `error` is a sentence. */
  fail(error: string): void {
    const checks = this.#parts.session.facts.config.checks.map((check) => untold(check, 'the session ended in an error'));
    this.#end({ status: 'failed', stopReason: 'error', error }, checks);
  }

  /** Ends the talk, where it is not over, and with it the session. */
  #cut(end: End, because: string): void {
    const { storage, dialogue } = this.#parts;
    storage.transactionSync(() => {
      dialogue.end();
      this.#end(end, this.#checks(because));
    });
  }

  #checks(cut: string | null): CheckResult[] {
    const { session, dialogue } = this.#parts;
    return checkResults(session.facts, dialogue, session.progress.judged, cut);
  }

  #end(end: End, checks: CheckResult[]): void {
    const { storage, session, dialogue, now, ended } = this.#parts;
    const { facts, progress } = session;
    const talkEndedAt = progress.talkEndedAt ?? now();
    const results = resultsOf({
      stopReason: end.stopReason!,
      maxTurns: facts.config.max_turns,
      turns: dialogue.turns,
      sides: dialogue.sides,
      checks,
      durationMs: talkEndedAt - progress.startedAt,
      judgeUsage: progress.judgeUsage,
    });
    storage.transactionSync(() => {
      session.change({ ...end, results, talkEndedAt, completedAt: now() });
      ended();
    });
    this.#stopped.resolve();
  }
}

/** Waits for `work`, at most so long. Whether it came in time. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timeout = setTimeout(() => resolve(false), milliseconds);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timeout);
  }
}
