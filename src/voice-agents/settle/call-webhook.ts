import type { Context } from '../../accounts/context.ts';
import { BadRequestError, buildRequest } from '../../automation-workflows/nodes/http-request-build.ts';
import { HttpRequestData } from '../../automation-workflows/nodes/http-request-data.ts';
import { openSecrets } from '../../automation-workflows/secrets.ts';
import { TemplateError, type Scope } from '../../automation-workflows/templates.ts';
import { toTimestamp } from '../../library/clock.ts';
import { outsideRules } from '../../providers/http/outside-rules.ts';
import { sendOutside, type OutsideResponse } from '../../providers/http/send.ts';
import { parseWebhookData } from '../definition/definition.ts';
import type { Settlement } from '../runs/run-store.ts';
import type { CallFacts } from './call-facts.ts';
import { completedCall } from './settled-call.ts';

/** What became of one try; `again`: another one may succeed. */
export interface WebhookTry {
  isDelivered: boolean;
  again: boolean;
  /** For the log. */
  payload: Record<string, string | number>;
}

/**
 * Sends a webhook node of an ended call. Its templates read what those of the talk read, and `call`, which is also what is sent by a node
 * without a body. `number` is that of the try: the Idempotency-Key has it, the webhook-id does not.
 */
export async function sendCallWebhook(
  context: Context,
  facts: CallFacts,
  settlement: Settlement,
  node: { id: string; data: Record<string, unknown> },
  number: number,
): Promise<WebhookTry> {
  try {
    const opened = parseWebhookData(await openSecrets(context.settings.ENCRYPTION_KEY, facts.organizationId, node.data));
    const { name: _name, ...http } = opened;
    const data = HttpRequestData.parse({ ...http, body: http.body ?? '{{ call }}' });
    const now = context.clock();
    const request = await buildRequest(data, scopeOf(facts, settlement, now), `call:${facts.runId}:${node.id}:${number}`, now);
    return outcomeOf(await sendOutside(request, outsideRules(context.settings)));
  } catch (error) {
    if (!(error instanceof BadRequestError) && !(error instanceof TemplateError)) throw error;
    return { isDelivered: false, again: false, payload: { problem: error.message } };
  }
}

function scopeOf(facts: CallFacts, settlement: Settlement, now: number): Scope {
  const { gathered_context: gathered, annotations, cost_info } = settlement.result;
  return {
    // As other services call them.
    workflow_run_id: facts.runId,
    workflow_id: facts.agentId,
    workflow_name: facts.agentName,
    annotations,
    cost_info,
    ...facts.initialContext,
    ...gathered,
    initial_context: facts.initialContext,
    gathered_context: gathered,
    organization: facts.organization,
    now: toTimestamp(now),
    call: completedCall(facts, settlement),
  };
}

function outcomeOf(response: OutsideResponse): WebhookTry {
  if ('failure' in response) return { isDelivered: false, again: response.failure === 'network', payload: { problem: response.message } };
  const { status } = response;
  const isDelivered = status >= 200 && status < 300;
  return { isDelivered, again: !isDelivered && ([408, 425, 429].includes(status) || status >= 500), payload: { status } };
}
