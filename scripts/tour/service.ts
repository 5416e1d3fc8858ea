import { LocalError } from '../local/settings.ts';

const answerWithinMs = 10_000;

export interface Answer<Body> {
  status: number;
  body: Body;
}

/** Calls the API with one key. Paths are below the base path; a body that is a string is sent byte for byte. */
export class Service {
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #send: typeof fetch;

  constructor(baseUrl: string, apiKey: string, send: typeof fetch = fetch) {
    this.#baseUrl = baseUrl;
    this.#apiKey = apiKey;
    this.#send = send;
  }

  get = <Body>(path: string) => this.#expect<Body>('GET', path);
  post = <Body>(path: string, body: unknown, headers: Record<string, string> = {}) => this.#expect<Body>('POST', path, body, headers);
  put = <Body>(path: string, body: unknown) => this.#expect<Body>('PUT', path, body);
  patch = <Body>(path: string, body: unknown) => this.#expect<Body>('PATCH', path, body);

  /** Calls any address without the key, and answers whatever the status is. */
  async call<Body>(method: string, url: string, body?: string, headers: Record<string, string> = {}): Promise<Answer<Body>> {
    let response: Response;
    let text: string;
    try {
      response = await this.#send(url, { method, headers, body: body ?? null, signal: AbortSignal.timeout(answerWithinMs) });
      text = await response.text();
    } catch (error) {
      throw new LocalError(`${method} ${url} was not answered (${reasonOf(error)}). Is "npm start" still running?`);
    }
    return { status: response.status, body: parsed(text) as Body };
  }

  async #expect<Body>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Body> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await this.call<Body>(method, this.#baseUrl + path, text, {
      'x-api-key': this.#apiKey,
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    });
    if (answer.status < 300) return answer.body;
    throw new LocalError(`${method} ${path} answered ${answer.status}: ${detailOf(answer.body)}`);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function detailOf(body: unknown): string {
  if (typeof body === 'object' && body !== null && 'detail' in body && 'message' in body) return `${body.detail}: ${body.message}`;
  const detail = typeof body === 'object' && body !== null && 'detail' in body ? body.detail : body;
  return typeof detail === 'string' ? detail : JSON.stringify(detail);
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? (error instanceof Error ? error.message : String(error));
}
