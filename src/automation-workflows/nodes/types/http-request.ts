import { parseJson, type Json } from '../../../library/json/json.ts';
import { parseRetryAfter } from '../../../library/time/retry-after.ts';
import { maskSecrets } from '../../../expressions/secrets/secrets.ts';
import { actionHandles, defineNode, failure, next, simulated, type StepResult } from '../contract.ts';
import { type OutboundResponse } from '../../../expressions/http-request/request.ts';
import { InvalidRequestError, buildHttpRequest, redactRequest } from '../../../expressions/http-request/build.ts';
import { HttpRequestData, isSuccessStatus } from '../../../expressions/http-request/schema.ts';

/** A longer response body is cut to this in the output. */
const maxBodyBytes = 64 * 1024;

export const httpRequestNode = defineNode<HttpRequestData>({
  type: 'http_request',
  label: 'HTTP request',
  description:
    'Calls an address outside. The answer is { status, headers, body }, JSON parsed, cut at 64 KiB. Network trouble, 408, 425, 429 and 5xx are tried again. A secret signs the request by Standard Webhooks.',
  dataSchema: HttpRequestData,
  handles: actionHandles,
  isSideEffect: true,
  respectsQuietHours: (data) => data.respect_quiet_hours,
  afterCrash: (data) => data.after_crash,
  example: {
    method: 'POST',
    url: 'https://example.com/orders/{{ data.order_id }}',
    body: { phone: '{{ contact.phone }}' },
    success_codes: ['2xx'],
  },
  run: async (step) => {
    try {
      const request = await buildHttpRequest(step.data, step.scope, step.key, step.now);
      if (step.dryRun) return simulated(redactRequest(await buildHttpRequest(maskData(step.data), step.scope, step.key, step.now)));
      return toStepResult(await step.effects.httpRequest(step.key, request), step.data, step.now);
    } catch (error) {
      if (error instanceof InvalidRequestError) return failure('invalid_request', error.message);
      throw error;
    }
  },
});

/** Data for the dry run, which shows the request: secrets in the body are masked. The signing secret is not part of a request, and stays. */
const maskData = (data: HttpRequestData): HttpRequestData => ({ ...maskSecrets(data), secret: data.secret });

function toStepResult(response: OutboundResponse, data: HttpRequestData, now: number): StepResult {
  if ('failure' in response && response.failure === 'network' && data.after_crash === 'unknown')
    return failure(
      'unknown',
      `${response.message}. Whether the request took effect is not known, so it was not sent again; look at the other side, then retry the run`,
    );
  if ('failure' in response)
    return { kind: 'fail', type: response.failure, message: response.message, retryable: response.failure === 'network' };
  const { status, headers } = response;
  const body = parseBody(response);
  if (isSuccessStatus(data.success_codes, status)) return next({ status, headers, ...body });
  const retryAfterSeconds = parseRetryAfter(headers['retry-after'], now);
  const message = `The server answered ${status}, which is not among success_codes (${data.success_codes.join(', ')}): ${excerpt(body.body)}`;
  return { kind: 'fail', type: 'http_status', message, retryable: [408, 425, 429].includes(status) || status >= 500, retryAfterSeconds };
}

/** Parsed JSON when the content type or the first character suggests JSON, else text. A body over the limit is cut text. */
function parseBody({ body, headers, is_cut }: { body: string; headers: Record<string, string>; is_cut: boolean }): {
  body: Json;
  body_is_cut?: true;
} {
  const bytes = new TextEncoder().encode(body);
  if (is_cut || bytes.length > maxBodyBytes) return { body: new TextDecoder().decode(bytes.subarray(0, maxBodyBytes)), body_is_cut: true };
  if (body === '') return { body: null };
  if (!/\bjson\b/i.test(headers['content-type'] ?? '') && !/^\s*[[{]/.test(body)) return { body };
  try {
    return { body: parseJson(body) };
  } catch {
    return { body };
  }
}

function excerpt(body: Json): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return text.length > 300 ? `${text.slice(0, 300)}...` : text;
}
