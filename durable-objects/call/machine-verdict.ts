import type { Clock } from '../../src/library/time/clock.ts';
import { renderText, TemplateError } from '../../src/expressions/templates/render.ts';
import { spokenCharacterMs } from '../../src/calls/live-call/create-conversation.ts';
import { parseConfigurations } from '../../src/voice-agents/agents/configurations.ts';
import { isMailboxSpeech, whoTalks } from '../../src/voice-agents/conversation/machine-speech.ts';
import type { Timers } from '../shared/timers.ts';
import { callTimers, type CallRecord } from './call-record.ts';
import type { LiveConversation } from './live-conversation.ts';
import type { RelaySockets } from './relay-sockets.ts';
import type { StoredConversation } from './stored-conversation.ts';

/** Without a word so long after the verdict and the agent's words, the verdict holds. */
const doubtMs = 4_000;
/** Without a report on the end of the greeting, the message is left so long after the verdict. */
const longestGreetingMs = 20_000;

interface MachineVerdictOptions {
  record: CallRecord;
  store: StoredConversation;
  relay: RelaySockets;
  timers: Timers;
  clock: Clock;
  live(): LiveConversation;
}

/**
 * What follows from the verdict that a machine has answered. The agent talks meanwhile, so what the other side says corrects a false verdict. A
 * machine gets the agent's message after its greeting, or is hung up on.
 */
export class MachineVerdict {
  readonly #parts: MachineVerdictOptions;

  constructor(parts: MachineVerdictOptions) {
    this.#parts = parts;
  }

  /** Machine detection reports a machine, or the end of its greeting. Repeatable. */
  report(isGreetingOver: boolean): void {
    const { record, live, store } = this.#parts;
    const { verdict } = record.line;
    if (verdict === 'corrected' || verdict === 'left') return;
    if (verdict === 'waiting') return isGreetingOver ? this.#leaveMessage() : undefined;
    if (!live().isLive) return;
    const talks = live().conversation.handedOverLeg ? 'person' : whoTalks(store.messages());
    if (talks === 'person') return this.#correct();
    if (talks === 'machine' || isGreetingOver) return this.#believe(isGreetingOver);
    if (verdict === null) this.#set('doubtful', doubtMs);
  }

  /** The other side has said something: it settles a doubtful verdict. False: the words are of a machine, and nobody answers them. */
  hear(text: string): boolean {
    switch (this.#parts.record.line.verdict) {
      case 'doubtful':
        if (!isMailboxSpeech(text)) {
          this.#correct();
          return true;
        }
        this.#believe(false);
        return false;
      case 'waiting':
      case 'left':
        return false;
      default:
        return true;
    }
  }

  /** Nothing more was heard: the doubtful verdict holds, or the greeting must be over. */
  onTimer(): void {
    const { record, timers, live, clock } = this.#parts;
    timers.clear(callTimers.machine);
    if (record.line.end !== null) return;
    // A person listens until the agent has spoken.
    const quietSince = live().conversation.state?.quietSince ?? clock();
    const decidedAt = quietSince + doubtMs;
    if (record.line.verdict === 'doubtful' && live().isLive && decidedAt > clock()) timers.set(callTimers.machine, decidedAt);
    else if (record.line.verdict === 'doubtful') this.#believe(false);
    else if (record.line.verdict === 'waiting') this.#leaveMessage();
  }

  #set(verdict: 'doubtful' | 'waiting', delayMs: number): void {
    const { record, timers, clock } = this.#parts;
    record.updateLine({ verdict });
    timers.set(callTimers.machine, clock() + delayMs);
  }

  #correct(): void {
    const { record, timers, store, clock } = this.#parts;
    timers.clear(callTimers.machine);
    record.updateLine({ verdict: 'corrected' });
    store.log('machine_verdict_corrected', {}, clock());
    // Told by a timer, so that a crash does not lose it.
    timers.set(callTimers.correction, clock());
  }

  #believe(isGreetingOver: boolean): void {
    const { record, store, live, clock, timers } = this.#parts;
    timers.clear(callTimers.machine);
    store.log('machine_answered', {}, clock());
    if (this.#message === '') {
      record.updateLine({ isStopped: true });
      return live().stop('stopped');
    }
    if (live().conversation.state) live().conversation.end('stopped');
    if (isGreetingOver) return this.#leaveMessage();
    this.#set('waiting', longestGreetingMs);
  }

  /** Says the message, once, and then ends the session. */
  #leaveMessage(): void {
    const { record, store, relay, timers, clock } = this.#parts;
    timers.clear(callTimers.machine);
    const text = this.#message;
    record.updateLine({ verdict: 'left' });
    relay.cutUtterance();
    relay.say(text, true, { nodeId: '', isInterruptible: false });
    store.log('voicemail_left', { text }, clock());
    timers.set(callTimers.endSession, clock() + text.length * spokenCharacterMs);
  }

  /** The message of the agent for machines; empty: it leaves none. */
  get #message(): string {
    const { configurations, initialContext } = this.#parts.record.setup;
    const template = parseConfigurations(configurations).voicemail_message ?? '';
    try {
      return renderText(template, { ...initialContext, initial_context: initialContext }).trim();
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      return '';
    }
  }
}
