import { isRecord } from '../../library/json.ts';
import type { App, AppAnswer, AppFailure } from '../broker/broker.ts';
import { fail, waitAsked } from '../broker/failing.ts';
import { quote } from '../telephony/exchange.ts';

/** What a provider said went wrong. */
interface Complaint {
  /** Its own code or reason. */
  code?: string | undefined;
  words: string;
}

/** Why an answer of a provider is a failure; undefined when it is none. */
export function failureOf(app: App, answer: AppAnswer, now: number): AppFailure | undefined {
  if (app === 'chatapp') return slackFailure(answer, now);
  if (app === 'tracker') return jiraFailure(answer, now);
  if (app === 'books') return zohoFailure(answer, now);
  return googleFailure(app, answer, now);
}

const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
const wordsOf = (value: unknown): string => quote(value, '');
const coded = (code: string | undefined) => (code ? { code } : {});

/** A failure whose meaning is in its status alone. */
function plainFailure(app: App, { status, headers }: AppAnswer, now: number, { code, words }: Complaint): AppFailure {
  const more = { ...coded(code), ...waitAsked(headers['retry-after'], now) };
  if (status === 429) return rateLimited(app, words, more);
  if (status >= 500 || status === 408)
    return fail('unavailable', `${app}: the provider failed with status ${status}${words && `: ${words}`}`, more);
  if (status === 401) return dead(app, words, code);
  return fail('rejected', `${app}: ${words || `the provider refuses with status ${status}`}`, coded(code));
}

function rateLimited(app: App, words: string, more: Omit<AppFailure, 'failure' | 'message'>): AppFailure {
  const when = more.retryAfterSeconds === undefined ? 'later' : `in ${more.retryAfterSeconds} seconds`;
  return fail('rate_limited', `${app}: rate limited${words && ` (${words})`}; try again ${when}`, more);
}

const dead = (app: App, words: string, code?: string) =>
  fail('not_connected', `${app}: the provider no longer accepts the connection${words && ` (${words})`}; connect it again`, coded(code));

const slackDead = new Set(['invalid_auth', 'not_authed', 'token_revoked', 'token_expired', 'account_inactive']);
const slackForbidden = new Set(['missing_scope', 'no_permission', 'not_allowed_token_type']);
const slackPassing = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']);
const slackWords: Record<string, string> = {
  channel_not_found: 'there is no such channel, or the connection cannot see it; choose another one',
  not_in_channel: 'the app is not in this channel; invite it there',
  is_archived: 'the channel is archived; choose another one',
  no_text: 'the message has no text',
  msg_too_long: 'the message is too long; shorten it',
};

/** Slack answers 200 with `ok: false` to all but a rate limit (https://docs.slack.dev/apis/web-api). */
function slackFailure(answer: AppAnswer, now: number): AppFailure | undefined {
  const body = recordOf(answer.data);
  const code = typeof body['error'] === 'string' ? body['error'] : undefined;
  const retryAfter = waitAsked(answer.headers['retry-after'], now);
  if (answer.status === 429 || code === 'ratelimited') return rateLimited('chatapp', '', { ...coded(code), ...retryAfter });
  if (answer.status !== 200) return plainFailure('chatapp', answer, now, { code, words: wordsOf(code) });
  if (body['ok'] === true || code === undefined) return undefined;
  if (slackDead.has(code)) return dead('chatapp', wordsOf(code), code);
  if (slackForbidden.has(code)) {
    const [needed, granted] = [wordsOf(body['needed']), wordsOf(body['provided'])];
    return fail('insufficient_permissions', needed ? `needs ${needed} (granted: ${granted || 'nothing'})` : wordsOf(code), { code });
  }
  if (slackPassing.has(code)) return fail('unavailable', `chatapp: the provider failed: ${code}`, { code, ...retryAfter });
  const explained = slackWords[code];
  return fail('rejected', `chatapp: ${wordsOf(code)}${explained ? `: ${explained}` : ''}`, { code });
}

/** The gateway says 401 for a scope that is missing, the product 403 for a permission that the person lacks; both are of the grant. */
function jiraFailure(answer: AppAnswer, now: number): AppFailure | undefined {
  if (answer.status >= 200 && answer.status < 300) return undefined;
  const body = recordOf(answer.data);
  const messages = Array.isArray(body['errorMessages']) ? body['errorMessages'] : [];
  const fields = Object.entries(recordOf(body['errors'])).map(([field, message]) => `${field}: ${String(message)}`);
  const words = wordsOf([...messages, ...fields].join('; ') || body['message']);
  const isScopeMissing = answer.status === 401 && /scope does not match/i.test(words);
  if (isScopeMissing) return fail('insufficient_permissions', 'the scopes granted by the tracker do not cover this', { code: 'scope' });
  if (answer.status === 403) return fail('insufficient_permissions', words || 'the tracker forbids this to the connected user');
  return plainFailure('tracker', answer, now, { words });
}

const googleScopes = new Set(['insufficientPermissions', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT']);
const googleLimits = new Set(['rateLimitExceeded', 'userRateLimitExceeded', 'quotaExceeded', 'dailyLimitExceeded', 'RATE_LIMIT_EXCEEDED']);

/** Reasons stand in `errors` or in `details`, by the age of the API (https://cloud.google.com/apis/design/errors). */
function googleFailure(app: App, answer: AppAnswer, now: number): AppFailure | undefined {
  if (answer.status >= 200 && answer.status < 300) return undefined;
  const error = recordOf(recordOf(answer.data)['error']);
  const listed = [error['errors'], error['details']].flatMap((list) => (Array.isArray(list) ? list : []));
  const reasons = listed.flatMap((item) => (typeof recordOf(item)['reason'] === 'string' ? [String(recordOf(item)['reason'])] : []));
  const words = wordsOf(error['message']);
  const code = reasons[0] ?? (typeof error['status'] === 'string' ? error['status'] : undefined);
  if (answer.status === 403 && reasons.some((reason) => googleScopes.has(reason)))
    return fail('insufficient_permissions', words || 'the scopes granted do not cover this', coded(code));
  if (answer.status === 403 && reasons.some((reason) => googleLimits.has(reason)))
    return rateLimited(app, words, { ...coded(code), ...waitAsked(answer.headers['retry-after'], now) });
  return plainFailure(app, answer, now, { code, words });
}

const zohoLimits = new Set(['43', '44', '45']);
const zohoInternal = new Set(['5', '1000']);
/** It does not always say how long a block of one minute lasts. */
const zohoRetryAfterSeconds = 60;

/** Every answer has a code, 0 for success (https://www.zoho.com/books/api/v3/errors). */
function zohoFailure(answer: AppAnswer, now: number): AppFailure | undefined {
  const body = recordOf(answer.data);
  const code = ['number', 'string'].includes(typeof body['code']) ? String(body['code']) : undefined;
  const isFine = answer.status >= 200 && answer.status < 300 && (code === undefined || code === '0');
  if (isFine) return undefined;
  const words = wordsOf(body['message']);
  const retryAfter = waitAsked(answer.headers['retry-after'], now);
  if (answer.status === 429 || zohoLimits.has(code ?? ''))
    return rateLimited('books', words, { ...coded(code), retryAfterSeconds: zohoRetryAfterSeconds, ...retryAfter });
  // The broker has renewed the token before, so what is wrong with it is what it covers.
  if (code === '57') return fail('insufficient_permissions', words || 'the scopes granted do not cover this', { code });
  if (zohoInternal.has(code ?? '')) return fail('unavailable', `books: the provider failed: ${words}`, { ...coded(code), ...retryAfter });
  return plainFailure('books', answer, now, { code, words });
}
