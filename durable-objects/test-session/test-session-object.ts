import type { Context } from '../../src/accounts/context.ts';
import { backgroundContext, OrganizationGoneError } from '../../src/accounts/organizations.ts';
import { retrieve } from '../../src/knowledge-base/retrieve.ts';
import { conflict, notFound } from '../../src/library/errors.ts';
import { languageModel } from '../../src/providers/language-model/language-model.ts';
import type { LiveSession, SessionStatus, Speaker } from '../../src/simtest/contract.ts';
import { loadTestObject } from '../../src/simtest/load-test-object.ts';
import { sessionConversation } from '../../src/simtest/session-conversation.ts';
import { claimSession, loadSession, type LoadedSession } from '../../src/simtest/session-facts.ts';
import { endSession } from '../../src/simtest/session-object-store.ts';
import { sessionReport } from '../../src/simtest/session-report.ts';
import { storedTalkKey, type StoredTalk } from '../../src/simtest/stored-talk.ts';
import type { Conversation } from '../../src/voice-agents/conversation/conversation.ts';
import { LivingObject } from '../shared/living-object.ts';
import type { Timer } from '../shared/timers.ts';
import { Course } from './course.ts';
import { Dialogue } from './dialogue.ts';
import { newProgress, sessionStep, StoredSession } from './stored-session.ts';
import { changeStep, StoredSide } from './stored-side.ts';

/** A burst of steps yields after this long. */
const burstMs = 10_000;
/** What fails so often in a row is given up: no session waits for ever. */
const mostFailures = 5;
const failed = 'The service failed in this session; start another one';

/**
 * One conversation test from its start on, named `{organization_id}/{session_id}`: two agents that talk with each other. When it has ended,
 * what was said goes to R2, its row is written, its load test is told, and it goes.
 *
 * `act` names one request of a person, so that its repetition is known. Its one timer, `next`, is the next step, whatever that is.
 */
export class TestSessionObject extends LivingObject {
  readonly #session = new StoredSession(this.ctx.storage.sql);
  readonly #stored = {
    actor: new StoredSide(this.ctx.storage.sql, 'actor'),
    adversary: new StoredSide(this.ctx.storage.sql, 'adversary'),
  };
  readonly #conversations = new Map<Speaker, Conversation>();
  readonly #course: Course;
  readonly #ended = Promise.withResolvers<LiveSession>();
  /** Its end is being written, or is written. */
  #recorded: Promise<void> | null = null;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    const conversationOf = (speaker: Speaker) => this.#conversationOf(speaker);
    const now = () => this.clock();
    const dialogue = new Dialogue({ config: () => this.#session.facts.config, stored: this.#stored, conversationOf, now });
    this.#course = new Course({
      storage: state.storage,
      session: this.#session,
      dialogue,
      conversationOf,
      model: () => languageModel(this.settings),
      log: () => this.log,
      now,
      ended: () => this.timers.set('next', this.clock()),
    });
  }

  protected schemaSteps() {
    return [sessionStep, changeStep];
  }

  /** The row is written twice: when the session begins, and how it ended. */
  protected async writeProjection(): Promise<void> {}

  /** From pending to running; the row says so when it returns. Throws 404, or 409 for one that is not pending or whose agents are archived. */
  async start(organizationId: number, sessionId: number, act: string): Promise<LiveSession> {
    if (!this.exists()) {
      const loaded = await this.#claim(organizationId, sessionId);
      if (loaded.status !== 'running') throw conflict(loaded.status === 'pending' ? loaded.hindrance! : notPending(loaded.status));
      if (!this.exists()) this.#make(loaded, act);
    }
    const { lastAct, status } = this.#session.progress;
    if (lastAct !== act) throw conflict(notPending(status));
    return this.#answer();
  }

  /** The same for a load test, where nobody waits for a refusal: a session whose agents are archived ends as failed. */
  async beginInLoadTest(organizationId: number, sessionId: number, act: string): Promise<{ status: SessionStatus }> {
    if (!this.exists()) {
      const loaded = await this.#claim(organizationId, sessionId);
      if (loaded.status !== 'running' && loaded.status !== 'pending') return { status: loaded.status };
      if (!this.exists()) this.#make(loaded, act);
      if (loaded.status === 'pending' && this.#course.isRunning) this.#course.fail(loaded.hindrance!);
    }
    const { status } = await this.#answer();
    return { status };
  }

  /** Ends a session at once, also while it is judged. 409 unless it is running. */
  async stop(act: string): Promise<LiveSession> {
    if (!this.exists()) throw conflict('The session is not running; only a running one can be stopped');
    const { lastAct, status } = this.#session.progress;
    if (lastAct !== act) {
      if (status !== 'running') throw conflict(`The session is ${status}; only a running one can be stopped`);
      this.#course.stop(act);
    }
    return this.#answer();
  }

  async snapshot(): Promise<LiveSession | null> {
    return this.exists() ? this.#answer() : null;
  }

  async conversation(): Promise<StoredTalk | null> {
    return this.exists() ? this.#course.talk : null;
  }

  /** Makes sure that it goes on; also makes the object of a session whose start broke off. For the minute tick. */
  async poke(organizationId: number, sessionId: number): Promise<void> {
    if (!this.exists()) {
      const loaded = await loadSession(await this.#context(organizationId), sessionId);
      if (loaded?.status !== 'running') return;
      if (!this.exists()) this.#make(loaded, '');
    }
    await this.timers.arm();
  }

  /** Its end, once the row tells it; null when the time is out before, or the object is gone. */
  async untilEnded(timeoutMs: number): Promise<LiveSession | null> {
    if (!this.exists()) return null;
    let timeout: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<null>((resolve) => (timeout = setTimeout(() => resolve(null), timeoutMs)));
    return Promise.race([this.#ended.promise, late]).finally(() => clearTimeout(timeout));
  }

  protected async onTimer(timer: Timer): Promise<void> {
    try {
      await this.#goOn(timer);
    } catch (error) {
      if (timer.attempts + 1 < mostFailures || !this.exists() || !this.#course.isRunning) throw error;
      this.log.error('a test session was given up', error);
      this.#course.fail(failed);
    }
  }

  async #goOn(timer: Timer): Promise<void> {
    const begun = Date.now();
    let due = this.clock();
    while (this.#course.isRunning && due <= this.clock() && Date.now() - begun < burstMs) due = await this.#course.step();
    if (!this.#course.isRunning) return this.#leave();
    this.timers.set('next', Math.max(due, timer.due + 1));
  }

  /** Everything that follows from the end may be done twice. */
  async #leave(): Promise<void> {
    const { facts } = this.#session;
    const { organizationId, loadTestId } = facts;
    const report = sessionReport(facts, this.#course.live, this.#course.talk.turns);
    await this.#record();
    if (loadTestId !== null) await loadTestObject(this.env, organizationId, loadTestId, (object) => object.sessionEnded(report));
    await this.vanish();
    this.#session.forget();
    for (const side of Object.values(this.#stored)) side.forget();
    this.#conversations.clear();
  }

  #record(): Promise<void> {
    this.#recorded ??= this.#writeEnd().catch((error: unknown) => {
      this.#recorded = null;
      throw error;
    });
    return this.#recorded;
  }

  /** What was said is there before the row says that it is over. */
  async #writeEnd(): Promise<void> {
    const { organizationId, sessionId } = this.#session.facts;
    const { live, talk } = this.#course;
    const context = await this.#context(organizationId);
    const type = { httpMetadata: { contentType: 'application/json' } };
    await this.env.FILES.put(storedTalkKey(organizationId, sessionId), JSON.stringify(talk), type);
    await endSession(context.database, organizationId, sessionId, live);
    this.#ended.resolve(live);
  }

  /** The session as it is, with its end written before it is told. */
  async #answer(): Promise<LiveSession> {
    const { live, isRunning } = this.#course;
    await this.timers.arm();
    if (!isRunning) await this.#record();
    return live;
  }

  #make({ facts, startedAt, unsound }: LoadedSession, act: string): void {
    const now = this.clock();
    this.ctx.storage.transactionSync(() => {
      this.create();
      this.#session.init(facts, newProgress(startedAt ?? now, act));
      this.timers.set('next', now);
      if (unsound !== null) this.#course.fail(unsound);
    });
  }

  #conversationOf(speaker: Speaker): Conversation {
    const known = this.#conversations.get(speaker);
    if (known) return known;
    const conversation = sessionConversation(this.#session.facts, speaker, {
      store: this.#stored[speaker],
      model: languageModel(this.settings),
      retrieve: (...asked) => this.#lookUp(...asked),
      now: () => this.clock(),
    });
    this.#conversations.set(speaker, conversation);
    return conversation;
  }

  async #lookUp(query: string, documentUuids: string[] | null, signal: AbortSignal): ReturnType<typeof retrieve> {
    try {
      return await retrieve(await this.#context(this.#session.facts.organizationId), query, documentUuids, signal);
    } catch (error) {
      if (!signal.aborted) this.log.error('documents could not be looked into', error);
      throw error;
    }
  }

  async #claim(organizationId: number, sessionId: number): Promise<LoadedSession> {
    const loaded = await claimSession(await this.#context(organizationId), sessionId, this.clock());
    if (!loaded) throw notFound('Test session');
    return loaded;
  }

  async #context(organizationId: number): Promise<Context> {
    const context = await backgroundContext(this.env, organizationId, (work) => this.ctx.waitUntil(work));
    if (!context) throw new OrganizationGoneError(organizationId);
    return context;
  }
}

const notPending = (status: SessionStatus): string =>
  `The session is ${status}; only a pending one can be started. Create it again to repeat it`;
