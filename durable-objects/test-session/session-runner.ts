import type { Logger } from '../../src/library/platform/log.ts';
import type { LanguageModel } from '../../src/providers/language-model/contract.ts';
import { toUnknownResult } from '../../src/simtest/checks/evaluate.ts';
import type { CheckResult, LiveSession, Speaker, StopReason } from '../../src/simtest/contract.ts';
import { computeResults } from '../../src/simtest/checks/results.ts';
import type { SessionTranscript } from '../../src/simtest/sessions/rpc.ts';
import type { Conversation } from '../../src/voice-agents/conversation/conversation.ts';
import { speakers, type Dialogue } from './dialogue.ts';
import { evaluateChecks, concludeBoth, judgeNext } from './judging.ts';
import type { SessionJournal } from './session-journal.ts';
import type { SessionProgress } from './session-progress.ts';
import type { SessionStore } from './session-store.ts';

export interface SessionRunnerDependencies {
  storage: DurableObjectStorage;
  session: SessionStore;
  /** Written before each question to the language model. */
  journal: SessionJournal;
  dialogue: Dialogue;
  conversationOf(speaker: Speaker): Conversation;
  model(): LanguageModel;
  log(): Logger;
  now(): number;
  /** Called when the session ends, in the transaction that writes the end. */
  onEnded(): void;
}

type SessionEnd = Pick<SessionProgress, 'status' | 'stopReason' | 'error'> & Partial<Pick<SessionProgress, 'lastAct'>>;

/** Runs a session from its first turn to its results: the two agents talk, the conversations are concluded, the checks are evaluated. */
export class SessionRunner {
  readonly #deps: SessionRunnerDependencies;
  /** Resolves when the session ends: work in progress is not waited for any longer. */
  readonly #stopped = Promise.withResolvers<void>();

  constructor(deps: SessionRunnerDependencies) {
    this.#deps = deps;
  }

  get isRunning(): boolean {
    return this.#deps.session.progress.status === 'running';
  }

  get live(): LiveSession {
    const { status, results, error, startedAt, completedAt } = this.#deps.session.progress;
    return { status, results, error, startedAt, completedAt };
  }

  /** The transcript so far. */
  get transcript(): SessionTranscript {
    const { startedAt, talkEndedAt } = this.#deps.session.progress;
    const turns = this.#deps.dialogue.turns.map(({ wasSilent: _wasSilent, ...turn }) => turn);
    return { turns, startedAt, endedAt: talkEndedAt };
  }

  /** Runs the next step of a running session. Returns when the step after it is due (epoch ms). */
  async runStep(): Promise<number> {
    const isTalking = this.#deps.session.progress.stopReason === null;
    return isTalking ? this.#takeTurn() : this.#runJudging();
  }

  async #takeTurn(): Promise<number> {
    const { session, journal, dialogue, now } = this.#deps;
    const { config } = session.facts;
    const { startedAt } = session.progress;
    const deadline = startedAt + config.max_duration_seconds * 1000;
    const reason = dialogue.stopReason(startedAt);
    if (reason) {
      this.#endConversation(reason);
      return now();
    }
    journal.write();
    const isInTime = await isDoneWithin(deadline - now(), dialogue.takeTurn(this.#stopped.promise));
    if (!isInTime && this.isRunning) this.#endConversation('max_duration');
    if (!this.isRunning || session.progress.stopReason !== null || dialogue.stopReason(startedAt)) return now();
    return Math.min(now() + config.turn_delay_ms, deadline);
  }

  #endConversation(stopReason: StopReason): void {
    const { session, dialogue, now } = this.#deps;
    if (stopReason === 'error')
      return this.#endEarly({ status: 'failed', stopReason, error: this.#modelError() }, 'the talk ended in an error');
    dialogue.end();
    session.change({ stopReason, talkEndedAt: now() });
  }

  #modelError(): string {
    const { sides } = this.#deps.dialogue;
    const speaker = speakers.find((one) => sides[one].state?.end?.reason === 'error')!;
    const failure = sides[speaker].events.findLast(({ type }) => type === 'model_failed');
    return `The language model of the ${speaker} failed: ${String(failure?.payload['message'])}`;
  }

  async #runJudging(): Promise<number> {
    const { session, journal, dialogue, conversationOf, now } = this.#deps;
    const isWanted = () => this.isRunning;
    const judging = { session, journal, dialogue, conversationOf, model: this.#deps.model(), log: this.#deps.log(), isWanted };
    const againMs = await this.#untilStopped(concludeBoth(judging));
    if (!this.isRunning) return now();
    if (typeof againMs === 'number') return now() + againMs;
    const hasJudged = await this.#untilStopped(judgeNext(judging));
    if (this.isRunning && !hasJudged) {
      const { stopReason } = session.progress;
      this.#end({ status: 'completed', stopReason, error: null }, this.#evaluateChecks(null));
    }
    return now();
  }

  /** Waits for work, or until the session ends. The failure of work that is left behind does not matter. */
  #untilStopped<T>(work: Promise<T>): Promise<T | void> {
    work.catch(() => {});
    return Promise.race([work, this.#stopped.promise]);
  }

  /** A person stops the session: the checks are evaluated without the language model. */
  stop(act: string): void {
    this.#endEarly({ status: 'stopped', stopReason: 'stopped', error: null, lastAct: act }, 'the session was stopped before');
  }

  /** The session fails: no check can be evaluated. `error` is a sentence. */
  fail(error: string): void {
    const checks = this.#deps.session.facts.config.checks.map((check) => toUnknownResult(check, 'the session ended in an error'));
    this.#end({ status: 'failed', stopReason: 'error', error }, checks);
  }

  /** Ends the conversations that are not over, and the session. */
  #endEarly(end: SessionEnd, reason: string): void {
    this.#deps.dialogue.end();
    this.#end(end, this.#evaluateChecks(reason));
  }

  #evaluateChecks(notJudgedReason: string | null): CheckResult[] {
    const { session, dialogue } = this.#deps;
    return evaluateChecks(session.facts, dialogue, session.progress.judged, notJudgedReason);
  }

  #end(end: SessionEnd, checks: CheckResult[]): void {
    const { storage, session, journal, dialogue, now, onEnded } = this.#deps;
    const { facts, progress } = session;
    const talkEndedAt = progress.talkEndedAt ?? now();
    const results = computeResults({
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
      journal.write();
      onEnded();
    });
    this.#stopped.resolve();
  }
}

/** Waits for `work`, at most `milliseconds`. Returns whether it was done in time. */
async function isDoneWithin(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timeout = setTimeout(() => resolve(false), milliseconds);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timeout);
  }
}
