import { retrievePassages } from '../../src/knowledge-base/search/retrieve-passages.ts';
import { conflict, notFound } from '../../src/library/errors.ts';
import { createConversationModel, createPurposeModel } from '../../src/language-models/purpose-models.ts';
import type { LanguageModel } from '../../src/providers/language-model/contract.ts';
import type { LiveSession, SessionStatus, Speaker, SessionFacts, SessionReport, TestTurn } from '../../src/simtest/contract.ts';
import { callLoadTestObject } from '../../src/simtest/load-tests/rpc.ts';
import { createSideConversation } from '../../src/simtest/dialogue/side-conversation.ts';
import { claimSession, loadSession, type LoadedSession } from '../../src/simtest/sessions/load-session.ts';
import { publish } from '../../src/outbox/published-events.ts';
import { writeSessionEnd } from '../../src/simtest/sessions/object-store.ts';
import { sessionTranscriptKey, type SessionTranscript, type TestSessionRpc } from '../../src/simtest/sessions/rpc.ts';
import type { Conversation } from '../../src/voice-agents/conversation/conversation.ts';
import { BaseDurableObject } from '../shared/base-durable-object.ts';
import { TableStore } from '../shared/object-store.ts';
import type { AlarmDelay, Timer } from '../shared/timers.ts';
import { SessionRunner } from './session-runner.ts';
import { Dialogue } from './dialogue.ts';
import { newSessionProgress } from './session-progress.ts';
import { sessionSchemaStep, SessionStore } from './session-store.ts';
import { changeSchemaStep, SessionJournal } from './session-journal.ts';
import { SideConversationStore } from './side-conversation-store.ts';

/** Consecutive steps yield to other work after this time. */
const stepBudgetMs = 10_000;
/** A session fails after so many consecutive failures of its timer. */
const maxFailures = 5;
const failedMessage = 'The service failed in this session; start another one';

/**
 * One test session from its start on: two agents that talk with each other. At its end, the transcript goes to R2, the row gets the results, the
 * load test gets a report, and the object is deleted. `TestSessionRpc` documents the methods. The one timer, `next`, runs the next step.
 */
export class TestSessionObject extends BaseDurableObject implements TestSessionRpc {
  readonly #journal = new SessionJournal(this.ctx.storage.sql);
  readonly #store = new SessionStore(this.ctx.storage.sql, this.#journal);
  readonly #sideStores = {
    actor: new SideConversationStore(this.#journal, 'actor'),
    adversary: new SideConversationStore(this.#journal, 'adversary'),
  };
  readonly #conversations = new Map<Speaker, Conversation>();
  #cachedJudge: LanguageModel | null = null;
  readonly #runner: SessionRunner;
  readonly #ended = Promise.withResolvers<LiveSession>();
  /** Whether the timer is at work, which sees an end by itself. */
  #isStepping = false;
  /** The write of the end, while it runs and once it is done. */
  #endWrite: Promise<void> | null = null;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    const conversationOf = (speaker: Speaker) => this.#conversationOf(speaker);
    const now = () => this.clock();
    const dialogue = new Dialogue({ config: () => this.#store.facts.config, stored: this.#sideStores, conversationOf, now });
    this.#runner = new SessionRunner({
      storage: state.storage,
      session: this.#store,
      journal: this.#journal,
      dialogue,
      conversationOf,
      model: () => this.#judge,
      log: () => this.log,
      now,
      onEnded: () => {
        if (!this.#isStepping) this.timers.set('next', this.clock());
      },
    });
  }

  protected openStore(storage: DurableObjectStorage, alarmDelay: AlarmDelay) {
    return new TableStore(storage, { steps: [sessionSchemaStep, changeSchemaStep] }, alarmDelay);
  }

  /** The row is written twice: when the session begins, and how it ended. */
  protected async writeProjection(): Promise<void> {}

  async start(organizationId: number, sessionId: number, act: string): Promise<LiveSession> {
    if (!this.exists()) {
      const loaded = await this.#claim(organizationId, sessionId);
      if (loaded.status !== 'running')
        throw conflict(loaded.status === 'pending' ? loaded.blockedReason! : notPendingMessage(loaded.status));
      if (!this.exists()) this.#createFrom(loaded, act);
    }
    const { lastAct, status } = this.#store.progress;
    if (lastAct !== act) throw conflict(notPendingMessage(status));
    return this.#answer();
  }

  async startInLoadTest(organizationId: number, sessionId: number, act: string): Promise<{ status: SessionStatus }> {
    if (!this.exists()) {
      const loaded = await this.#claim(organizationId, sessionId);
      if (loaded.status !== 'running' && loaded.status !== 'pending') return { status: loaded.status };
      if (!this.exists()) this.#createFrom(loaded, act);
      if (loaded.status === 'pending' && this.#runner.isRunning) this.#runner.fail(loaded.blockedReason!);
    }
    const { status } = await this.#answer();
    return { status };
  }

  async stop(act: string): Promise<LiveSession> {
    if (!this.exists()) throw conflict('The session is not running; only a running one can be stopped');
    const { lastAct, status } = this.#store.progress;
    if (lastAct !== act) {
      if (status !== 'running') throw conflict(`The session is ${status}; only a running one can be stopped`);
      this.#runner.stop(act);
    }
    return this.#answer();
  }

  async snapshot(): Promise<LiveSession | null> {
    return this.exists() ? this.#answer() : null;
  }

  async transcript(): Promise<SessionTranscript | null> {
    return this.exists() ? this.#runner.transcript : null;
  }

  async wakeStalled(organizationId: number, sessionId: number): Promise<void> {
    if (!this.exists()) {
      const loaded = await loadSession(await this.requireContext(organizationId), sessionId);
      if (loaded?.status !== 'running') return;
      if (!this.exists()) this.#createFrom(loaded, '');
    }
    await this.timers.arm();
  }

  async waitForEnd(timeoutMs: number): Promise<LiveSession | null> {
    if (!this.exists()) return null;
    let timeout: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<null>((resolve) => (timeout = setTimeout(() => resolve(null), timeoutMs)));
    return Promise.race([this.#ended.promise, late]).finally(() => clearTimeout(timeout));
  }

  protected async onTimer(timer: Timer): Promise<void> {
    try {
      this.#isStepping = true;
      await this.#runSteps(timer);
    } catch (error) {
      this.#isStepping = false;
      if (timer.attempts + 1 < maxFailures || !this.exists() || !this.#runner.isRunning) throw error;
      this.log.error('a test session has failed too often', error);
      this.#runner.fail(failedMessage);
    } finally {
      this.#isStepping = false;
    }
  }

  async #runSteps(timer: Timer): Promise<void> {
    const startedAt = Date.now();
    let due = this.clock();
    while (this.#runner.isRunning && due <= this.clock() && Date.now() - startedAt < stepBudgetMs) due = await this.#runner.runStep();
    if (!this.#runner.isRunning) return this.#finish();
    this.ctx.storage.transactionSync(() => {
      this.#journal.write();
      this.timers.set('next', Math.max(due, timer.due + 1));
    });
  }

  /** The work after the end. All of it may run twice. */
  async #finish(): Promise<void> {
    const { facts } = this.#store;
    const { organizationId, loadTestId } = facts;
    const report = toSessionReport(facts, this.#runner.live, this.#runner.transcript.turns);
    await this.#recordEnd();
    if (loadTestId !== null) await callLoadTestObject(this.env, organizationId, loadTestId, (object) => object.sessionEnded(report));
    await this.destroy();
    this.#journal.clearCache();
    this.#store.clearCache();
    for (const side of Object.values(this.#sideStores)) side.clearCache();
    this.#conversations.clear();
    this.#cachedJudge = null;
  }

  #recordEnd(): Promise<void> {
    this.#endWrite ??= this.#writeEnd().catch((error: unknown) => {
      this.#endWrite = null;
      throw error;
    });
    return this.#endWrite;
  }

  /** The transcript is stored before the row shows the end. */
  async #writeEnd(): Promise<void> {
    const { organizationId, sessionId } = this.#store.facts;
    const { live, transcript } = this.#runner;
    const context = await this.requireContext(organizationId);
    const type = { httpMetadata: { contentType: 'application/json' } };
    await this.env.FILES.put(sessionTranscriptKey(organizationId, sessionId), JSON.stringify(transcript), type);
    const isListening = await writeSessionEnd(context.database, organizationId, sessionId, live);
    if (isListening)
      await publish(context, 'webhook_event.recorded', { type: live.status === 'failed' ? 'test.failed' : 'test.completed' });
    this.#ended.resolve(live);
  }

  /** The session as it is. Its end is written before it is shown. */
  async #answer(): Promise<LiveSession> {
    const { live, isRunning } = this.#runner;
    await this.timers.arm();
    if (!isRunning) await this.#recordEnd();
    return live;
  }

  #createFrom({ facts, startedAt, unsoundReason }: LoadedSession, act: string): void {
    const now = this.clock();
    this.ctx.storage.transactionSync(() => {
      this.create();
      this.#store.init(facts, newSessionProgress(startedAt ?? now, act));
      this.timers.set('next', now);
      if (unsoundReason !== null) this.#runner.fail(unsoundReason);
    });
  }

  get #judge(): LanguageModel {
    const { organizationId, languageModels = [] } = this.#store.facts;
    this.#cachedJudge ??= createPurposeModel(this.settings, organizationId, languageModels, 'judge');
    return this.#cachedJudge;
  }

  #conversationOf(speaker: Speaker): Conversation {
    const known = this.#conversations.get(speaker);
    if (known) return known;
    const { organizationId, languageModels = [] } = this.#store.facts;
    const conversation = createSideConversation(this.#store.facts, speaker, {
      store: this.#sideStores[speaker],
      model: createConversationModel(this.settings, organizationId, languageModels),
      retrieve: (...query) => this.#retrieve(...query),
      now: () => this.clock(),
    });
    this.#conversations.set(speaker, conversation);
    return conversation;
  }

  async #retrieve(query: string, documentUuids: string[] | null, signal: AbortSignal): ReturnType<typeof retrievePassages> {
    try {
      return await retrievePassages(await this.requireContext(this.#store.facts.organizationId), query, documentUuids, signal);
    } catch (error) {
      if (!signal.aborted) this.log.error('passages could not be retrieved', error);
      throw error;
    }
  }

  async #claim(organizationId: number, sessionId: number): Promise<LoadedSession> {
    const loaded = await claimSession(await this.requireContext(organizationId), sessionId, this.clock());
    if (!loaded) throw notFound('Test session');
    return loaded;
  }
}

const notPendingMessage = (status: SessionStatus): string =>
  `The session is ${status}; only a pending one can be started. Create it again to repeat it`;

/** The report of an ended session to its load test. */
const toSessionReport = ({ sessionId, testIndex }: SessionFacts, live: LiveSession, turns: readonly TestTurn[]): SessionReport => ({
  sessionId,
  testIndex: testIndex ?? 0,
  status: live.status as SessionReport['status'],
  outcome: live.results?.outcome ?? null,
  error: live.error,
  durationMs: Math.round((live.results?.duration_seconds ?? 0) * 1000),
  latenciesMs: turns.map(({ latencyMs }) => latencyMs),
});
