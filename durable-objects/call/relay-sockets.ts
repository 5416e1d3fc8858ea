import type { RelayEndAction } from '../../src/calls/rpc.ts';
import type { SpeechSink } from '../../src/voice-agents/conversation/contract.ts';
import type { RelayEndEvent } from '../../src/providers/telephony/carrier-events.ts';
import { isPermanentError } from '../../src/providers/telephony/carrier-error.ts';
import type { LineState } from './call-record.ts';

/** What is stored with a socket; it outlives the sleep of the object. */
interface Attachment {
  /** Null before the session's setup. */
  sessionId: string | null;
  /** Another session has replaced it, or it is being ended: its frames are ignored. */
  isOver: boolean;
}

/** The sockets of a call's conversation relay, of which one session at a time is current, and the words spoken over it. */
export class RelaySockets {
  readonly #state: DurableObjectState;
  readonly #holdsLastToken: () => boolean;
  #socket: WebSocket | null | undefined;
  /** The present utterance, and whether a piece of it could not be sent. */
  #utterance = '';
  #isBroken = false;
  /** For a carrier that accepts no empty token: the piece that waits for the next one. */
  #heldToken = '';
  /** Utterances that were not spoken to the end because the socket was gone. */
  #undelivered: { text: string; isInterruptible: boolean }[] = [];

  /** `holdsLastToken` answers, once there is a call, whether the last piece of an utterance must be held back for its carrier. */
  constructor(state: DurableObjectState, holdsLastToken: () => boolean) {
    this.#state = state;
    this.#holdsLastToken = holdsLastToken;
  }

  accept(socket: WebSocket): void {
    this.#state.acceptWebSocket(socket);
    socket.serializeAttachment({ sessionId: null, isOver: false } satisfies Attachment);
  }

  /** Closes a socket that does not belong to this call. */
  refuse(socket: WebSocket): void {
    closeSocket(socket);
  }

  /** Whether the socket has not begun a session yet. */
  isNew(socket: WebSocket): boolean {
    const { sessionId, isOver } = readAttachment(socket);
    return sessionId === null && !isOver;
  }

  isCurrent(socket: WebSocket): boolean {
    const { sessionId, isOver } = readAttachment(socket);
    return sessionId !== null && !isOver;
  }

  /** Makes the session of this socket the current one. Utterances that the session before it did not finish are spoken again. */
  startSession(socket: WebSocket, sessionId: string): void {
    for (const other of this.#state.getWebSockets()) if (other !== socket && !this.isNew(other)) closeSocket(other);
    socket.serializeAttachment({ sessionId, isOver: false } satisfies Attachment);
    this.#socket = socket;
    this.#heldToken = '';
    this.#utterance = '';
    this.#isBroken = false;
    const undelivered = this.#undelivered;
    this.#undelivered = [];
    for (const { text, isInterruptible } of undelivered) this.say(text, true, { nodeId: '', isInterruptible });
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

  /**
   * Sends the held-back piece, without `interruptible`. A carrier that accepts no empty token could not be sent the end of an utterance
   * alone.
   */
  #sayHeldBack(token: string, last: boolean): boolean {
    const due = last ? this.#heldToken + token : this.#heldToken;
    this.#heldToken = last ? '' : token;
    return due === '' ? this.#current() !== null : this.#send({ type: 'text', token: due, last });
  }

  /** Drops the present utterance, which was interrupted. */
  cutUtterance(): void {
    this.#heldToken = '';
    this.#utterance = '';
    this.#isBroken = false;
    this.#undelivered = [];
  }

  get hasSession(): boolean {
    return this.#current() !== null;
  }

  /** Has the carrier end the session. The carrier repeats `handoff` when it asks for the next instruction. */
  endSession(handoff: Record<string, string | number>): void {
    const socket = this.#current();
    if (!socket) return;
    this.#send({ type: 'end', handoffData: JSON.stringify(handoff) });
    socket.serializeAttachment({ ...readAttachment(socket), isOver: true });
    this.#socket = null;
  }

  /** Records that a socket has closed. Answers whether it was the current one, one without a session, or one that was over. */
  markClosed(socket: WebSocket): 'current' | 'new' | 'over' {
    const previous = this.isCurrent(socket) ? 'current' : this.isNew(socket) ? 'new' : 'over';
    socket.serializeAttachment({ ...readAttachment(socket), isOver: true });
    this.#socket = undefined;
    return previous;
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
      // The socket has closed, and its close event has not come yet.
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
    // The socket was closed before.
  }
}

const maxReconnects = 3;

/** What to do with a live line whose relay session is over, and the change of its state. */
export function decideAfterRelayEnd(
  { lostSessions, reconnects }: Pick<LineState, 'lostSessions' | 'reconnects'>,
  { reason, sessionId, fault }: Pick<RelayEndEvent, 'reason' | 'sessionId' | 'fault'>,
  hasStarted: boolean,
): { answer: RelayEndAction; change: Partial<LineState> } {
  const hangUp = { answer: hasStarted ? ('hang_up' as const) : ('never_begun' as const), change: {} };
  if (reason !== 'lost' || (!hasStarted && isPermanentError(fault))) return hangUp;
  // The carrier repeats the event when our answer was lost.
  if (sessionId !== undefined && lostSessions.includes(sessionId)) return { answer: 'connect', change: {} };
  if (reconnects >= maxReconnects) return hangUp;
  const known = sessionId === undefined ? lostSessions : [...lostSessions, sessionId];
  return { answer: 'connect', change: { reconnects: reconnects + 1, lostSessions: known } };
}
