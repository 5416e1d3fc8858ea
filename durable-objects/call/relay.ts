import type { Say } from '../../src/voice-agents/conversation/contract.ts';

/** What is known of a socket, also after the object has slept. */
interface Attachment {
  /** Null before its setup. */
  sessionId: string | null;
  /** Another session has taken its place, or it was told to end: what it says counts no more. */
  isOver: boolean;
}

/** The sockets of a call's conversation relay, of which one session at a time counts, and what is said over it. */
export class Relay {
  readonly #state: DurableObjectState;
  readonly #carrier: () => string;
  #socket: WebSocket | null | undefined;
  /** The utterance under way, and whether a piece of it was said to nobody. */
  #utterance = '';
  #isBroken = false;
  /** At Telnyx: the piece that waits for the next one. */
  #held = '';
  /** Utterances that nobody heard to the end, because the socket was gone. */
  #unheard: { text: string; isInterruptible: boolean }[] = [];

  /** `carrier` is whose frames are spoken, once there is a call. */
  constructor(state: DurableObjectState, carrier: () => string) {
    this.#state = state;
    this.#carrier = carrier;
  }

  accept(socket: WebSocket): void {
    this.#state.acceptWebSocket(socket);
    socket.serializeAttachment({ sessionId: null, isOver: false } satisfies Attachment);
  }

  /** The socket is not the carrier's end of this call. */
  refuse(socket: WebSocket): void {
    over(socket);
  }

  /** Whether the socket has begun no session yet. */
  isNew(socket: WebSocket): boolean {
    const { sessionId, isOver } = attachmentOf(socket);
    return sessionId === null && !isOver;
  }

  isCurrent(socket: WebSocket): boolean {
    const { sessionId, isOver } = attachmentOf(socket);
    return sessionId !== null && !isOver;
  }

  /** From now on the session of this socket is the one that counts. What the one before did not hear is said again. */
  begin(socket: WebSocket, sessionId: string): void {
    for (const other of this.#state.getWebSockets()) if (other !== socket && !this.isNew(other)) over(other);
    socket.serializeAttachment({ sessionId, isOver: false } satisfies Attachment);
    this.#socket = socket;
    this.#held = '';
    this.#utterance = '';
    this.#isBroken = false;
    const unheard = this.#unheard;
    this.#unheard = [];
    for (const { text, isInterruptible } of unheard) this.say(text, true, { nodeId: '', isInterruptible });
  }

  readonly say: Say = (token, last, { isInterruptible }) => {
    const isSent =
      this.#carrier() === 'telnyx'
        ? this.#sayToTelnyx(token, last)
        : this.#send({ type: 'text', token, last, interruptible: isInterruptible });
    this.#utterance += token;
    this.#isBroken ||= !isSent;
    if (!last) return;
    if (this.#isBroken) this.#unheard.push({ text: this.#utterance, isInterruptible });
    this.#utterance = '';
    this.#isBroken = false;
  };

  /**
   * Telnyx documents neither `interruptible` of a text nor an empty token, and closes the socket after ten frames that it does not take. So the
   * last piece of an utterance is held back until the next one, or its end, is there.
   */
  #sayToTelnyx(token: string, last: boolean): boolean {
    const due = last ? this.#held + token : this.#held;
    this.#held = last ? '' : token;
    return due === '' ? this.#current() !== null : this.#send({ type: 'text', token: due, last });
  }

  /** The utterance under way was cut. */
  cut(): void {
    this.#held = '';
    this.#utterance = '';
    this.#isBroken = false;
    this.#unheard = [];
  }

  /** Has the carrier end the session. `handoff` comes back to us in its question what to do next. */
  end(handoff: Record<string, string | number>): void {
    const socket = this.#current();
    if (!socket) return;
    this.#send({ type: 'end', handoffData: JSON.stringify(handoff) });
    socket.serializeAttachment({ ...attachmentOf(socket), isOver: true });
    this.#socket = null;
  }

  /** The socket has closed. Answers what it was: the one that counts, one without a session, or one that counted no more. */
  lose(socket: WebSocket): 'current' | 'new' | 'over' {
    const was = this.isCurrent(socket) ? 'current' : this.isNew(socket) ? 'new' : 'over';
    socket.serializeAttachment({ ...attachmentOf(socket), isOver: true });
    this.#socket = undefined;
    return was;
  }

  closeAll(): void {
    for (const socket of this.#state.getWebSockets()) over(socket);
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

const attachmentOf = (socket: WebSocket): Attachment =>
  (socket.deserializeAttachment() as Attachment | null) ?? { sessionId: null, isOver: false };

function over(socket: WebSocket): void {
  socket.serializeAttachment({ ...attachmentOf(socket), isOver: true });
  try {
    socket.close(1000, 'the session is over');
  } catch {
    // It had closed.
  }
}
