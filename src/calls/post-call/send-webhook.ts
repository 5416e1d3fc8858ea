import type { Context } from '../../context.ts';
import { InvalidRequestError, buildHttpRequest } from '../../expressions/http-request/build.ts';
import { HttpRequestData } from '../../expressions/http-request/schema.ts';
import { openSecrets } from '../../expressions/secrets/secrets.ts';
import { TemplateError, type Scope } from '../../expressions/templates/render.ts';
import { toTimestamp } from '../../library/time/clock.ts';
import { urlPolicy } from '../../providers/http/url-policy.ts';
import { sendGuardedRequest, type GuardedResponse } from '../../providers/http/guarded-request.ts';
import { parseWebhookData } from '../../voice-agents/definition/definition.ts';
import type { RunCompletion } from '../records/store.ts';
import type { CallSetup } from '../live-call/call-setup.ts';
import { toCallCompletedData } from './run-completion.ts';

/** The result of one try. `isRetryable`: another try may succeed. */
export interface WebhookResult {
  isDelivered: boolean;
  isRetryable: boolean;
  /** For the log. */
  logPayload: Record<string, string | number>;
}

/**
 * Sends the request of a webhook node after a call. Its templates read the variables of the conversation, and `call`, which is also the
 * body of a node without one. `number` counts the tries: the Idempotency-Key contains it, the webhook-id does not.
 */
export async function sendCallWebhook(
  context: Context,
  setup: CallSetup,
  completion: RunCompletion,
  node: { id: string; data: Record<string, unknown> },
  number: number,
): Promise<WebhookResult> {
  try {
    const opened = parseWebhookData(await openSecrets(context.settings.ENCRYPTION_KEY, setup.organizationId, node.data));
    const { name: _name, ...http } = opened;
    const data = HttpRequestData.parse({ ...http, body: http.body ?? '{{ call }}' });
    const now = context.clock();
    const request = await buildHttpRequest(
      data,
      buildWebhookScope(setup, completion, now),
      `call:${setup.runId}:${node.id}:${number}`,
      now,
    );
    return toWebhookResult(await sendGuardedRequest(request, urlPolicy(context.settings)));
  } catch (error) {
    if (!(error instanceof InvalidRequestError) && !(error instanceof TemplateError)) throw error;
    return { isDelivered: false, isRetryable: false, logPayload: { problem: error.message } };
  }
}

function buildWebhookScope(setup: CallSetup, completion: RunCompletion, now: number): Scope {
  const { gathered_context: gathered, annotations, cost_info } = completion.result;
  return {
    // The names that other services use.
    workflow_run_id: setup.runId,
    workflow_id: setup.agentId,
    workflow_name: setup.agentName,
    annotations,
    cost_info,
    ...setup.initialContext,
    ...gathered,
    initial_context: setup.initialContext,
    gathered_context: gathered,
    organization: setup.organization,
    now: toTimestamp(now),
    call: toCallCompletedData(setup, completion),
  };
}

function toWebhookResult(response: GuardedResponse): WebhookResult {
  if ('failure' in response)
    return { isDelivered: false, isRetryable: response.failure === 'network', logPayload: { problem: response.message } };
  const { status } = response;
  const isDelivered = status >= 200 && status < 300;
  return { isDelivered, isRetryable: !isDelivered && ([408, 425, 429].includes(status) || status >= 500), logPayload: { status } };
}
