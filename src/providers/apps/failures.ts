import { isRecord } from '../../library/json/json.ts';
import type { App } from '../../library/connectable-apps.ts';
import type { AppResponse, AppFailure } from '../broker/broker.ts';
import { appFailure, parseRetryAfterHeader } from '../broker/app-failure.ts';
import { redactLine } from '../http/redact.ts';

/** The error in a provider's answer. */
interface ProviderError {
  /** The provider's own code or reason. */
  code?: string | undefined;
  words: string;
}

/** The failure of a provider's answer; undefined: the answer is a success. */
export function failureFromResponse(app: App, answer: AppResponse, now: number): AppFailure | undefined {
  if (app === 'chatapp') return slackFailure(answer, now);
  if (app === 'tracker') return jiraFailure(answer, now);
  if (app === 'books') return zohoFailure(answer, now);
  return googleFailure(app, answer, now);
}

const toRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
const toLine = (value: unknown): string => redactLine(value);
const withCode = (code: string | undefined) => (code ? { code } : {});

/** A failure that is classified by the HTTP status alone. */
function failureFromStatus(app: App, { status, headers }: AppResponse, now: number, { code, words }: ProviderError): AppFailure {
  const more = { ...withCode(code), ...parseRetryAfterHeader(headers['retry-after'], now) };
  if (status === 429) return rateLimited(app, words, more);
  if (status >= 500 || status === 408)
    return appFailure('unavailable', `${app}: the provider failed with status ${status}${words && `: ${words}`}`, more);
  if (status === 401) return connectionDead(app, words, code);
  return appFailure('rejected', `${app}: ${words || `the provider refuses with status ${status}`}`, withCode(code));
}

function rateLimited(app: App, words: string, more: Omit<AppFailure, 'failure' | 'message'>): AppFailure {
  const when = more.retryAfterSeconds === undefined ? 'later' : `in ${more.retryAfterSeconds} seconds`;
  return appFailure('rate_limited', `${app}: rate limited${words && ` (${words})`}; try again ${when}`, more);
}

const connectionDead = (app: App, words: string, code?: string) =>
  appFailure(
    'not_connected',
    `${app}: the provider no longer accepts the connection${words && ` (${words})`}; connect it again`,
    withCode(code),
  );

const slackDeadCodes = new Set(['invalid_auth', 'not_authed', 'token_revoked', 'token_expired', 'account_inactive']);
const slackForbiddenCodes = new Set(['missing_scope', 'no_permission', 'not_allowed_token_type']);
const slackTransientCodes = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']);
const slackAdvice: Record<string, string> = {
  channel_not_found: 'there is no such channel, or the connection cannot see it; choose another one',
  not_in_channel: 'the app is not in this channel; invite it there',
  is_archived: 'the channel is archived; choose another one',
  no_text: 'the message has no text',
  msg_too_long: 'the message is too long; shorten it',
};

/** Slack answers 200 with `ok: false` for all errors but a rate limit (https://docs.slack.dev/apis/web-api). */
function slackFailure(answer: AppResponse, now: number): AppFailure | undefined {
  const body = toRecord(answer.data);
  const code = typeof body['error'] === 'string' ? body['error'] : undefined;
  const retryAfter = parseRetryAfterHeader(answer.headers['retry-after'], now);
  if (answer.status === 429 || code === 'ratelimited') return rateLimited('chatapp', '', { ...withCode(code), ...retryAfter });
  if (answer.status !== 200) return failureFromStatus('chatapp', answer, now, { code, words: toLine(code) });
  if (body['ok'] === true || code === undefined) return undefined;
  if (slackDeadCodes.has(code)) return connectionDead('chatapp', toLine(code), code);
  if (slackForbiddenCodes.has(code)) {
    const [needed, granted] = [toLine(body['needed']), toLine(body['provided'])];
    return appFailure('insufficient_permissions', needed ? `needs ${needed} (granted: ${granted || 'nothing'})` : toLine(code), { code });
  }
  if (slackTransientCodes.has(code)) return appFailure('unavailable', `chatapp: the provider failed: ${code}`, { code, ...retryAfter });
  const explained = slackAdvice[code];
  return appFailure('rejected', `chatapp: ${toLine(code)}${explained ? `: ${explained}` : ''}`, { code });
}

/**
 * Atlassian's gateway answers 401 for a missing scope, Jira 403 for a missing permission of the person. Both are failures of the grant.
 */
function jiraFailure(answer: AppResponse, now: number): AppFailure | undefined {
  if (answer.status >= 200 && answer.status < 300) return undefined;
  const body = toRecord(answer.data);
  const messages = Array.isArray(body['errorMessages']) ? body['errorMessages'] : [];
  const fields = Object.entries(toRecord(body['errors'])).map(([field, message]) => `${field}: ${String(message)}`);
  const words = toLine([...messages, ...fields].join('; ') || body['message']);
  const isScopeMissing = answer.status === 401 && /scope does not match/i.test(words);
  if (isScopeMissing)
    return appFailure('insufficient_permissions', 'the scopes granted by the tracker do not cover this', { code: 'scope' });
  if (answer.status === 403) return appFailure('insufficient_permissions', words || 'the tracker forbids this to the connected user');
  return failureFromStatus('tracker', answer, now, { words });
}

const googleScopeReasons = new Set(['insufficientPermissions', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT']);
const googleLimitReasons = new Set([
  'rateLimitExceeded',
  'userRateLimitExceeded',
  'quotaExceeded',
  'dailyLimitExceeded',
  'RATE_LIMIT_EXCEEDED',
]);

/** The reasons are in `errors` or in `details`, depending on the age of the API (https://cloud.google.com/apis/design/errors). */
function googleFailure(app: App, answer: AppResponse, now: number): AppFailure | undefined {
  if (answer.status >= 200 && answer.status < 300) return undefined;
  const error = toRecord(toRecord(answer.data)['error']);
  const listed = [error['errors'], error['details']].flatMap((list) => (Array.isArray(list) ? list : []));
  const reasons = listed.flatMap((item) => (typeof toRecord(item)['reason'] === 'string' ? [String(toRecord(item)['reason'])] : []));
  const words = toLine(error['message']);
  const code = reasons[0] ?? (typeof error['status'] === 'string' ? error['status'] : undefined);
  if (answer.status === 403 && reasons.some((reason) => googleScopeReasons.has(reason)))
    return appFailure('insufficient_permissions', words || 'the scopes granted do not cover this', withCode(code));
  if (answer.status === 403 && reasons.some((reason) => googleLimitReasons.has(reason)))
    return rateLimited(app, words, { ...withCode(code), ...parseRetryAfterHeader(answer.headers['retry-after'], now) });
  return failureFromStatus(app, answer, now, { code, words });
}

const zohoLimitCodes = new Set(['43', '44', '45']);
const zohoInternalCodes = new Set(['5', '1000']);
/** The wait after a block of one minute, when Zoho does not give its length. */
const zohoRetryAfterSeconds = 60;

/** Every answer of Zoho has a code, 0 for success (https://www.zoho.com/books/api/v3/errors). */
function zohoFailure(answer: AppResponse, now: number): AppFailure | undefined {
  const body = toRecord(answer.data);
  const code = ['number', 'string'].includes(typeof body['code']) ? String(body['code']) : undefined;
  const isFine = answer.status >= 200 && answer.status < 300 && (code === undefined || code === '0');
  if (isFine) return undefined;
  const words = toLine(body['message']);
  const retryAfter = parseRetryAfterHeader(answer.headers['retry-after'], now);
  if (answer.status === 429 || zohoLimitCodes.has(code ?? ''))
    return rateLimited('books', words, { ...withCode(code), retryAfterSeconds: zohoRetryAfterSeconds, ...retryAfter });
  // The broker has refreshed the token, so the token's scopes do not suffice.
  if (code === '57') return appFailure('insufficient_permissions', words || 'the scopes granted do not cover this', { code });
  if (zohoInternalCodes.has(code ?? ''))
    return appFailure('unavailable', `books: the provider failed: ${words}`, { ...withCode(code), ...retryAfter });
  return failureFromStatus('books', answer, now, { code, words });
}
