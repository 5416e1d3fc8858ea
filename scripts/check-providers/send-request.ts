import { redactLine } from '../../src/providers/http/redact.ts';

/** What a check saw. `next`: what to do about a refusal. */
export type Finding =
  | { state: 'ok'; saw: string }
  | { state: 'refused'; saw: string; next: string }
  | { state: 'not configured'; next: string };

/** Reads variables by name; empty ones are not there. */
export type Variables = Record<string, string | undefined>;

export interface Check {
  vendor: string;
  /** Without them there is nothing to ask. */
  needs: string[];
  run(variables: Variables, ask: SendRequest): Promise<Finding>;
}

interface Answer {
  status: number;
  body: any;
  /** The vendor's words for a refusal, without any of the secrets. */
  words: string;
}

export type SendRequest = (url: string, init?: RequestInit) => Promise<Answer>;

const timeoutMs = 15_000;
const maxAnswerLength = 4 * 1024 * 1024;

/** Asks a vendor once. Throws an Error in words for a vendor that cannot be reached. `secrets` never come back in what is said. */
export const createSendRequest =
  (secrets: readonly string[], fetch_: typeof fetch = fetch): SendRequest =>
  async (url, init = {}) => {
    const response = await fetch_(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) }).catch((error: Error) => {
      const isLate = error.name === 'TimeoutError';
      throw new Error(isLate ? `gave no answer within ${timeoutMs / 1000} seconds` : `cannot be reached at ${new URL(url).origin}`);
    });
    const text = (await response.text()).slice(0, maxAnswerLength);
    const body = parsed(text);
    return { status: response.status, body, words: said(body, text, secrets) };
  };

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Where vendors put their words: `error.message`, `errors[0].detail`, `message`, `info`, else the text as it is. */
function said(body: any, text: string, secrets: readonly string[]): string {
  const first = Array.isArray(body?.errors) ? body.errors[0] : undefined;
  const words = [body?.error?.message, first?.detail ?? first?.title, body?.message, body?.info, body?.error].find(
    (word) => typeof word === 'string' && word !== '',
  );
  const plain = typeof words === 'string' ? words : /^\s*</.test(text) ? '' : text;
  return redactLine(plain, ...secrets);
}

/** A refusal, in the vendor's words. */
export const toRefusal = ({ status, words }: Answer, next: string): Finding => ({
  state: 'refused',
  saw: `status ${status}${words === '' ? '' : `: ${words}`}`,
  next,
});

export const isOk = ({ status }: Answer): boolean => status >= 200 && status < 300;
