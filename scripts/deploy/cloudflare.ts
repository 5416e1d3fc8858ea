import { LocalError } from '../local/settings.ts';

export interface CloudflareProblem {
  code: number;
  message: string;
}

/** What Cloudflare answered other than success. */
export class CloudflareError extends LocalError {
  readonly status: number;
  readonly problems: CloudflareProblem[];

  constructor(what: string, status: number, problems: CloudflareProblem[]) {
    super(
      `${what} answered ${status}: ${problems.map(({ code, message }) => `${message} [code ${code}]`).join('; ') || 'no reason given'}`,
    );
    this.status = status;
    this.problems = problems;
  }
}

interface Answer<T> {
  success: boolean;
  result: T;
  errors?: CloudflareProblem[];
  result_info?: { total_pages?: number; cursor?: string };
}

/** The part of Cloudflare's API, version 4, that a deployment asks itself; wrangler does the rest. Sources: developers.cloudflare.com/api. */
export class Cloudflare {
  readonly #token: string;
  readonly #baseUrl: string;
  readonly #send: typeof fetch;

  constructor(token: string, environment: Record<string, string | undefined> = process.env, send: typeof fetch = fetch) {
    this.#token = token;
    this.#baseUrl = (environment.CLOUDFLARE_API_BASE_URL || 'https://api.cloudflare.com/client/v4').replace(/\/$/, '');
    this.#send = send;
  }

  async get<T>(path: string): Promise<T> {
    return (await this.#ask<T>('GET', path)).result;
  }

  async post<T>(path: string, body: unknown): Promise<T> {
    return (await this.#ask<T>('POST', path, body)).result;
  }

  /** All pages of a list. */
  async list<T>(path: string): Promise<T[]> {
    const all: T[] = [];
    for (let page = 1; ; page++) {
      const answer = await this.#ask<T[]>('GET', `${path}${path.includes('?') ? '&' : '?'}page=${page}&per_page=100`);
      all.push(...answer.result);
      if (answer.result.length === 0 || page >= (answer.result_info?.total_pages ?? 1)) return all;
    }
  }

  /** The result, or undefined where there is no such thing. */
  async find<T>(path: string): Promise<T | undefined> {
    try {
      return await this.get<T>(path);
    } catch (error) {
      if (error instanceof CloudflareError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Asks up to three times where the network or Cloudflare fails: everything asked here may be repeated. */
  async #ask<T>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#askOnce<T>(method, path, body);
      } catch (error) {
        const mayPass = !(error instanceof CloudflareError) || error.status === 429 || error.status >= 500;
        if (attempt >= 3 || !mayPass) throw error;
        await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** attempt));
      }
    }
  }

  async #askOnce<T>(method: string, path: string, body: unknown): Promise<Answer<T>> {
    const what = `${method} ${path.replace(/\?.*$/, '')} of Cloudflare's API`;
    let response: Response;
    try {
      response = await this.#send(this.#baseUrl + path, {
        method,
        headers: { authorization: `Bearer ${this.#token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(60_000),
      });
    } catch (error) {
      throw new LocalError(`${what} cannot be reached (${(error as Error).message}). Check the network, then run the same command again.`);
    }
    const answer = (await response.json().catch(() => undefined)) as Answer<T> | undefined;
    if (response.ok && answer?.success === true) return answer;
    throw new CloudflareError(what, response.status, answer?.errors ?? []);
  }
}
