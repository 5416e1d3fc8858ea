import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ownNumber, type CarrierAccount } from './local/carrier.ts';
import { Client } from './load.ts';

export interface BareOrder {
  /** The carrier's endpoint that places calls. */
  url: URL;
  account: CarrierAccount;
  slots: number;
  /** The phone number that is called next. */
  nextPhone(): string;
}

/** The TwiML for an answered call: half a second of silence, then the end. */
const document = '<Response><Pause length="0.5"/><Hangup/></Response>';
const ends = new Set(['completed', 'busy', 'no-answer', 'failed', 'canceled']);

/** A loop for each slot that orders a call, waits until the carrier tells of its end, and orders the next: nothing is kept or decided. */
export class BareDialer {
  readonly #order: BareOrder;
  readonly #client: Client;
  readonly #waiting = new Map<string, () => void>();
  readonly #server: Server;
  #isOver = false;
  #loops: Promise<unknown> = Promise.resolve();

  constructor(order: BareOrder) {
    this.#order = order;
    this.#client = new Client(order.url, order.slots);
    this.#server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (part: string) => (text += part));
      request.on('end', () => {
        response.end();
        if (ends.has(new URLSearchParams(text).get('CallStatus') ?? '')) this.#waiting.get(request.url!)?.();
      });
    });
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#loops = Promise.all(Array.from({ length: this.#order.slots }, (_, slot) => this.#keepBusy(`/${slot}`)));
    // stop() reports a failure.
    this.#loops.catch(() => undefined);
  }

  /** No call begins any more; resolves when the last has ended, rejects when one could not be ordered. */
  async stop(): Promise<void> {
    this.#isOver = true;
    try {
      await this.#loops;
    } finally {
      this.#client.close();
      this.#server.close();
      this.#server.closeAllConnections();
    }
  }

  async #keepBusy(path: string): Promise<void> {
    const { port } = this.#server.address() as AddressInfo;
    const { account, url, nextPhone } = this.#order;
    const headers = {
      authorization: `Basic ${Buffer.from(`${account.accountSid}:${account.authToken}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    };
    while (!this.#isOver) {
      const ended = new Promise<void>((resolve) => this.#waiting.set(path, resolve));
      const form = new URLSearchParams({
        To: nextPhone(),
        From: ownNumber,
        Twiml: document,
        StatusCallback: `http://127.0.0.1:${port}${path}`,
        StatusCallbackEvent: 'completed',
      });
      await this.#client.call({ method: 'POST', path: url.pathname, headers, body: form.toString() });
      await ended;
    }
  }
}
