import { performance } from 'node:perf_hooks';
import type { SimulatedPerson, Reaction } from './person.ts';
import { readFrame, type Frame } from './relay-frames.ts';

export interface RelayRequest {
  url: string;
  /** Of the upgrade request. */
  headers: Record<string, string>;
  /** The first frame. */
  setup: object;
  /** Said by the carrier before anything else. */
  greeting?: string | undefined;
  language: string;
  hasDtmf: boolean;
  /** As at Telnyx: texts have no options and are never empty, and the tenth invalid frame closes the socket. */
  isStrict?: boolean;
}

/** `ended` by the customer's frame, `hung_up` by the person, `lost`: the socket broke, or never opened. */
export type RelayOutcome =
  | { reason: 'ended'; handoffData?: string | undefined }
  | { reason: 'hung_up' }
  | { reason: 'lost'; code: number; message: string };

/** Receives the events of a session. */
export interface RelayListener {
  opened(): void;
  spoken(speaker: 'agent' | 'person', text: string): void;
  answered(firstTokenMs: number): void;
  problem(text: string): void;
}

export interface SessionBehavior {
  turnMs: number;
  maxSilenceMs: number;
}

const maxFaults = 10;
const connectTimeoutMs = 5_000;
/** About 150 words a minute. */
const millisecondsPerWord = 400;

/** Node's own socket takes headers, which the type of a Worker's does not know. */
const Socket = WebSocket as unknown as new (url: string, options: { headers: Record<string, string> }) => WebSocket;

/** One conversation over a ConversationRelay socket: the carrier's side of it, with a person who hears and speaks in texts. */
export class RelaySession {
  readonly outcome: Promise<RelayOutcome>;
  readonly #order: RelayRequest;
  readonly #person: SimulatedPerson;
  readonly #manners: SessionBehavior;
  readonly #listener: RelayListener;
  readonly #socket: WebSocket;
  #settle: (outcome: RelayOutcome) => void = () => undefined;
  #isOver = false;
  #faults = 0;
  #isOpen = false;
  /** The words that the agent is speaking. */
  #utterance = '';
  #lastHeard = '';
  /** The words to which the person has not reacted yet. */
  #unanswered = '';
  #promptedAt: number | undefined;
  #reaction: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(order: RelayRequest, person: SimulatedPerson, manners: SessionBehavior, listener: RelayListener) {
    this.#order = order;
    this.#person = person;
    this.#manners = manners;
    this.#listener = listener;
    this.outcome = new Promise((resolve) => (this.#settle = resolve));
    this.#socket = new Socket(order.url, { headers: order.headers });
    this.#idleTimer = setTimeout(() => this.#lose(64102, 'Unable to connect to websocket URL'), connectTimeoutMs);
    this.#socket.addEventListener('open', () => this.#begin());
    this.#socket.addEventListener('message', ({ data }) => this.#receive(String(data)));
    this.#socket.addEventListener('close', () =>
      this.#isOpen ? this.#lose(64105, 'WebSocket ended unexpectedly') : this.#lose(64102, 'Unable to connect to websocket URL'),
    );
    this.#socket.addEventListener('error', () => undefined);
  }

  #begin(): void {
    if (this.#isOver) return this.#socket.close();
    this.#isOpen = true;
    this.#listener.opened();
    this.#send(this.#order.setup);
    this.#listen();
    if (this.#order.greeting) this.#hear(this.#order.greeting);
    if (this.#person.opening !== undefined) this.say(this.#person.opening);
  }

  #receive(text: string): void {
    if (this.#isOver) return;
    const frame = readFrame(text, this.#order.isStrict);
    if ('fault' in frame) {
      this.#listener.problem(`64107: invalid message ${text.slice(0, 200)}: ${frame.fault}`);
      this.#send({ type: 'error', description: `Invalid message received: ${text.slice(0, 500)}` });
      this.#faults += 1;
      if (this.#order.isStrict && this.#faults >= maxFaults) this.#lose(64107, 'Too many invalid messages');
      return;
    }
    this.#obey(frame);
  }

  #obey(frame: Frame): void {
    this.#listen();
    if (frame.type === 'text') {
      if (this.#promptedAt !== undefined) this.#listener.answered(performance.now() - this.#promptedAt);
      this.#promptedAt = undefined;
      this.#utterance += frame.token;
      if (frame.last) this.#hear(this.#utterance);
    } else if (frame.type === 'play') this.#hear('[sound]');
    else if (frame.type === 'end') {
      if (this.#utterance !== '') this.#listener.spoken('agent', this.#utterance);
      this.#end({ reason: 'ended', handoffData: frame.handoffData });
    }
  }

  /** A whole utterance: the person reacts after a moment, unless more comes. */
  #hear(text: string): void {
    this.#utterance = '';
    if (text.trim() === '') return;
    this.#lastHeard = text;
    this.#listener.spoken('agent', text);
    this.#unanswered = this.#reaction === undefined ? text : `${this.#unanswered} ${text}`;
    clearTimeout(this.#reaction);
    this.#reaction = setTimeout(() => {
      this.#reaction = undefined;
      this.#react(this.#person.hear(this.#unanswered));
    }, this.#manners.turnMs);
  }

  #react({ says, hangsUp }: Reaction): void {
    if (says !== undefined) this.say(says);
    if (hangsUp) this.hangUp();
  }

  /** Lets the person hang up after too long a silence. */
  #listen(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => this.hangUp(), this.#manners.maxSilenceMs);
  }

  say(text: string): void {
    if (this.#isOver) return;
    this.#listener.spoken('person', text);
    this.#promptedAt = performance.now();
    this.#listen();
    this.#send({ type: 'prompt', voicePrompt: text, lang: this.#order.language, last: true });
  }

  /** Interrupts the agent: the person has heard the first half of the utterance. */
  interrupt(text: string): void {
    const words = (this.#utterance || this.#lastHeard).split(/\s+/).filter((word) => word !== '');
    const heardWords = words.slice(0, Math.ceil(words.length / 2));
    if (this.#utterance !== '') this.#listener.spoken('agent', heardWords.join(' '));
    this.#utterance = '';
    clearTimeout(this.#reaction);
    this.#reaction = undefined;
    this.#send({
      type: 'interrupt',
      utteranceUntilInterrupt: heardWords.join(' '),
      durationUntilInterruptMs: heardWords.length * millisecondsPerWord,
    });
    this.say(text);
  }

  press(digits: string): void {
    if (!this.#order.hasDtmf) return this.#listener.problem('A key was pressed, and dtmfDetection is off');
    this.#listen();
    for (const digit of digits) this.#send({ type: 'dtmf', digit });
  }

  hangUp(): void {
    this.#end({ reason: 'hung_up' });
  }

  /** Ends the session when the carrier stops. */
  stop(): void {
    this.#end({ reason: 'ended' });
  }

  /** Breaks the socket, as a restart of the customer's server does. */
  drop(): void {
    this.#lose(64105, 'WebSocket ended unexpectedly');
  }

  #lose(code: number, message: string): void {
    if (this.#isOver) return;
    this.#listener.problem(`${code}: ${message}`);
    this.#end({ reason: 'lost', code, message });
  }

  #end(outcome: RelayOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#reaction);
    clearTimeout(this.#idleTimer);
    this.#socket.close();
    this.#settle(outcome);
  }

  #send(frame: object): void {
    if (!this.#isOver && this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
  }
}
