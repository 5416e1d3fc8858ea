import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo, Socket as NetworkSocket } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

interface ServerSocket {
  send(data: string): void;
  close(): void;
  terminate(): void;
  on(event: 'message', listener: (data: Buffer) => void): void;
}

interface SocketServer {
  handleUpgrade(request: IncomingMessage, socket: NetworkSocket, head: Buffer, done: (socket: ServerSocket) => void): void;
}

const { WebSocketServer } = createRequire(import.meta.url)('ws') as { WebSocketServer: new (options: { noServer: true }) => SocketServer };

export interface Received {
  method: string;
  path: string;
  /** As it was called. */
  url: string;
  headers: Record<string, string>;
  body: string;
  form: URLSearchParams;
}

type Frame = Record<string, any>;

export interface Talk {
  url: string;
  headers: Record<string, string>;
  frames: Frame[];
  say(text: string): void;
  send(frame: unknown): void;
  /** Breaks the socket without a word. */
  breakOff(): void;
}

/** What answers a request; undefined: 200 without a body. */
export type Responder = (request: Received) => { status?: number; body?: string } | undefined;
export type Agent = (frame: Frame, talk: Talk) => void;

/** A customer of a carrier: takes callbacks, answers with documents, and has an agent at its sockets. */
export class Customer {
  readonly received: Received[] = [];
  readonly talks: Talk[] = [];
  url = '';
  respond: Responder = () => undefined;
  agent: Agent = (frame, talk) => politeAgent(frame, talk);
  /** False: an upgrade is refused. */
  takesSockets = true;
  #watchers: (() => void)[] = [];

  static async start(): Promise<Customer> {
    const customer = new Customer();
    const server = createServer((request, response) => {
      void customer.#take(request).then(({ status = 200, body = '' }) => response.writeHead(status).end(body));
    });
    const sockets = new WebSocketServer({ noServer: true });
    server.on('upgrade', (request, socket: NetworkSocket, head) => {
      if (!customer.takesSockets) return socket.destroy();
      sockets.handleUpgrade(request, socket, head, (opened) => customer.#talk(request, opened));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    customer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    onTestFinished(async () => {
      server.closeAllConnections();
      server.close();
    });
    return customer;
  }

  get socketUrl(): string {
    return this.url.replace('http', 'ws');
  }

  async #take(request: IncomingMessage): Promise<{ status?: number; body?: string }> {
    const url = new URL(request.url!, this.url);
    const body = await readText(request);
    const received: Received = {
      method: request.method!,
      path: url.pathname,
      url: url.href,
      headers: request.headers as Record<string, string>,
      body,
      form: new URLSearchParams(request.method === 'GET' ? url.search : body),
    };
    const answer = this.respond(received) ?? {};
    this.received.push(received);
    this.#notify();
    return answer;
  }

  #talk(request: IncomingMessage, socket: ServerSocket): void {
    const talk: Talk = {
      url: new URL(request.url!, this.socketUrl).href,
      headers: request.headers as Record<string, string>,
      frames: [],
      say: (text) => talk.send({ type: 'text', token: text, last: true }),
      send: (frame) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
      breakOff: () => socket.terminate(),
    };
    this.talks.push(talk);
    socket.on('message', (data) => {
      const frame = JSON.parse(data.toString()) as Frame;
      talk.frames.push(frame);
      this.agent(frame, talk);
      this.#notify();
    });
    this.#notify();
  }

  #notify(): void {
    for (const watcher of this.#watchers) watcher();
  }

  /** What `find` gives as soon as it gives something, looked for after every request and frame. */
  async until<Found>(find: () => Found | undefined | false, what: string): Promise<Found> {
    const { promise, resolve, reject } = Promise.withResolvers<Found>();
    const look = () => {
      const found = find();
      if (found) resolve(found);
    };
    const timer = setTimeout(
      () => reject(new Error(`${what} did not come; came: ${this.received.map(({ path, body }) => `${path} ${body}`).join('\n')}`)),
      10_000,
    );
    this.#watchers.push(look);
    look();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#watchers = this.#watchers.filter((watcher) => watcher !== look);
    }
  }

  at(path: string): Received[] {
    return this.received.filter((request) => request.path === path);
  }

  async next(path: string, matches: (request: Received) => boolean = () => true): Promise<Received> {
    return this.until(() => this.at(path).find(matches), `A request to ${path}`);
  }
}

/** What `find` gives as soon as it gives something; for what tells nobody that it has changed. */
export async function eventually<Found>(find: () => Promise<Found | undefined | false>, what: string): Promise<Found> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; await sleep(5)) {
    const found = await find();
    if (found) return found;
  }
  throw new Error(`${what} did not come`);
}

/** Greets, and ends the session at the first word of the person. */
const politeAgent: Agent = (frame, talk) => {
  if (frame['type'] === 'setup') talk.say('Hello, this is Acme.');
  if (frame['type'] === 'prompt') talk.send({ type: 'end' });
};

/** Answers every whole utterance of the person with the next of `lines`; `end` ends the session. */
export const scripted =
  (...lines: (string | 'end')[]): Agent =>
  (frame, talk) => {
    if (frame['type'] !== 'setup' && frame['type'] !== 'prompt') return;
    const line = lines.shift();
    if (line === 'end') talk.send({ type: 'end', handoffData: '{"reason":"done"}' });
    else if (line !== undefined) talk.say(line);
  };
