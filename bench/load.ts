import { Agent, request as send, type OutgoingHttpHeaders } from 'node:http';
import { percentile } from './statistics.ts';

export interface HttpExchange {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  headers?: OutgoingHttpHeaders;
  body?: string;
}

/** What one round of a case showed. Times in milliseconds. */
export interface Sample {
  perSecond: number;
  p50: number;
  p99: number;
}

const answerLimitMs = 60_000;
/** Servers close a connection that was idle for 5 s, possibly just when it is used again. */
const idleLimitMs = 2000;

/** A keep-alive client of one loopback origin. */
export class Client {
  readonly #origin: URL;
  readonly #agent: Agent;

  constructor(origin: URL, connections: number) {
    this.#origin = origin;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'fifo', timeout: idleLimitMs });
  }

  /** Returns the body; throws an error with the answer unless its status is 200 to 299. */
  call({ method, path, headers = {}, body }: HttpExchange): Promise<string> {
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const request = send(
        `${this.#origin.origin}${path}`,
        { method, agent: this.#agent, headers: { ...length, ...headers }, timeout: answerLimitMs },
        (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(parts).toString();
            if (response.statusCode! >= 200 && response.statusCode! < 300) resolve(text);
            else reject(new Error(`${method} ${path} answered ${response.statusCode}: ${text.slice(0, 500)}`));
          });
        },
      );
      request.on('error', reject);
      request.on('timeout', () => request.destroy(new Error(`${method} ${path} did not answer in ${answerLimitMs / 1000} s`)));
      request.end(body);
    });
  }

  async json<Body>(exchange: HttpExchange): Promise<Body> {
    return JSON.parse(await this.call(exchange)) as Body;
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Sends `exchanges` over `connections`, each connection waiting for its answer before it sends the next. */
export async function load(client: Client, exchanges: HttpExchange[], connections: number): Promise<Sample> {
  const waiting = exchanges.values();
  const times: number[] = [];
  const startedAt = performance.now();
  const connection = async () => {
    for (const exchange of waiting) {
      const sentAt = performance.now();
      await client.call(exchange);
      times.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  const seconds = (performance.now() - startedAt) / 1000;
  return { perSecond: exchanges.length / seconds, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}
