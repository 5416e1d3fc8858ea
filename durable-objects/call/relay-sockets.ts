import type { RelayEndAction } from '../../src/calls/rpc.ts';
import type { SpeechSink } from '../../src/voice-agents/conversation/contract.ts';
import type { RelayEndEvent } from '../../src/providers/telephony/carrier-events.ts';
import { isPermanentError } from '../../src/providers/telephony/carrier-error.ts';
import type { LineState } from './call-record.ts';

/** What is known of a socket, also after the object has slept. */
interface Attachment {
  /** Null before its setup. */
  sessionId: string | null;
  /** Another session has taken its place, or it was told to end: what it says counts no more. */
  isOver: boolean;
}

/** The sockets of a call's conversation relay, of which one session at a time counts, and what is said over it. */
export class RelaySockets {
  readonly #state: DurableObjectState;
  readonly #holdsLastToken: () => boolean;
  #socket: WebSocket | null | undefined;
  /** The utterance under way, and whether a piece of it was said to nobody. */
  #utterance = '';
  #isBroken = false;
  /** Where the carrier takes no empty token: the piece that waits for the next one. */
  #heldToken = '';
  /** Utterances that nobody heard to the end, because the socket was gone. */
  #undelivered: { text: string; isInterruptible: boolean }[] = [];

  /** `holdsLastToken` says, once there is a call, whether the carrier wants the last piece of an utterance held back. */
  constructor(state: DurableObjectState, holdsLastToken: () => boolean) {
    this.#state = state;
    this.#holdsLastToken = holdsLastToken;
  }

  accept(socket: WebSocket): void {
    this.#state.acceptWebSocket(socket);
    socket.serializeAttachment({ sessionId: null, isOver: false } satisfies Attachment);
  }

  /** The socket is not the carrier's end of this call. */
  refuse(socket: WebSocket): void {
    closeSocket(socket);
  }

  /** Whether the socket has begun no session yet. */
  isNew(socket: WebSocket): boolean {
    const { sessionId, isOver } = readAttachment(socket);
    return sessionId === null && !isOver;
  }

  isCurrent(socket: WebSocket): boolean {
    const { sessionId, isOver } = readAttachment(socket);
    return sessionId !== null && !isOver;
  }

  /** From now on the session of this socket is the one that counts. What the one before did not hear is said again. */
  startSession(socket: WebSocket, sessionId: string): void {
    for (const other of this.#state.getWebSockets()) if (other !== socket && !this.isNew(other)) closeSocket(other);
    socket.serializeAttachment({ sessionId, isOver: false } satisfies Attachment);
    this.#socket = socket;
    this.#heldToken = '';
    this.#utterance = '';
    this.#isBroken = false;
    const unheard = this.#undelivered;
    this.#undelivered = [];
    for (const { text, isInterruptible } of unheard) this.say(text, true, { nodeId: '', isInterruptible });
  }

  readonly say: SpeechSink = (token, last, { isInterruptible }) => {
    const isSent = this.#holdsLastToken()
      ? this.#sayHeldBack(token, last)
      : this.#send({ type: 'text', token, last, interruptible: isInterruptible });
    this.#utterance += token;
    this.#isBroken ||= !isSent;
    if (!last) return;
    if (this.#isBroken) this.#undelivered.push({ text: this.#utterance, isInterruptible });
    this.#utterance = '';
    this.#isBroken = false;
  };

  /** Sends the piece before, without `interruptible`: a carrier that knows no empty token could not be told the end by one. */
  #sayHeldBack(token: string, last: boolean): boolean {
    const due = last ? this.#heldToken + token : this.#heldToken;
    this.#heldToken = last ? '' : token;
    return due === '' ? this.#current() !== null : this.#send({ type: 'text', token: due, last });
  }

  /** The utterance under way was cut. */
  cutUtterance(): void {
    this.#heldToken = '';
    this.#utterance = '';
    this.#isBroken = false;
    this.#undelivered = [];
  }

  /** Has the carrier end the session. `handoff` comes back to us in its question what to do next. */
  endSession(handoff: Record<string, string | number>): void {
    const socket = this.#current();
    if (!socket) return;
    this.#send({ type: 'end', handoffData: JSON.stringify(handoff) });
    socket.serializeAttachment({ ...readAttachment(socket), isOver: true });
    this.#socket = null;
  }

  /** The socket has closed. Answers what it was: the one that counts, one without a session, or one that counted no more. */
  markClosed(socket: WebSocket): 'current' | 'new' | 'over' {
    const was = this.isCurrent(socket) ? 'current' : this.isNew(socket) ? 'new' : 'over';
    socket.serializeAttachment({ ...readAttachment(socket), isOver: true });
    this.#socket = undefined;
    return was;
  }

  closeAll(): void {
    for (const socket of this.#state.getWebSockets()) closeSocket(socket);
    this.#socket = null;
  }

  #current(): WebSocket | null {
    this.#socket ??= this.#state.getWebSockets().find((socket) => this.isCurrent(socket)) ?? null;
    return this.#socket;
  }

  #send(frame: object): boolean {
    try {
      const socket = this.#current();
      socket?.send(JSON.stringify(frame));
      return socket !== null;
    } catch {
      // It has closed, and we have not been told yet.
      return false;
    }
  }
}

const readAttachment = (socket: WebSocket): Attachment =>
  (socket.deserializeAttachment() as Attachment | null) ?? { sessionId: null, isOver: false };

function closeSocket(socket: WebSocket): void {
  socket.serializeAttachment({ ...readAttachment(socket), isOver: true });
  try {
    socket.close(1000, 'the session is over');
  } catch {
    // It had closed.
  }
}

const maxReconnects = 3;

/** What is to be done with a live line whose relay session is over, and what is to be remembered of it. */
export function decideAfterRelayEnd(
  { lostSessions, reconnects }: Pick<LineState, 'lostSessions' | 'reconnects'>,
  { reason, sessionId, fault }: Pick<RelayEndEvent, 'reason' | 'sessionId' | 'fault'>,
  isBegun: boolean,
): { answer: RelayEndAction; change: Partial<LineState> } {
  const givenUp = { answer: isBegun ? ('hang_up' as const) : ('never_begun' as const), change: {} };
  if (reason !== 'lost' || (!isBegun && isPermanentError(fault))) return givenUp;
  // The carrier asks again when our answer was lost.
  if (sessionId !== undefined && lostSessions.includes(sessionId)) return { answer: 'connect', change: {} };
  if (reconnects >= maxReconnects) return givenUp;
  const known = sessionId === undefined ? lostSessions : [...lostSessions, sessionId];
  return { answer: 'connect', change: { reconnects: reconnects + 1, lostSessions: known } };
}
