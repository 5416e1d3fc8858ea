import { z } from 'zod';
import { findActiveAgentIds } from '../../../voice-agents/agents/find-agents.ts';
import { configObject } from '../../../library/json/config-object.ts';
import { normalizePhone } from '../../../library/phone/phone-numbers.ts';
import { toTimestamp } from '../../../library/time/clock.ts';
import { addExact, durationProblem, parseDuration } from '../../../library/time/durations.ts';
import { isServiceError, type ServiceError } from '../../../library/errors.ts';
import type { Json } from '../../../library/json/json.ts';
import { renderDeep, renderText } from '../../../expressions/templates/render.ts';
import { callHandles, toUndialledResult } from '../shared/call-outcome.ts';
import { defaultHandle, defineNode, findInField, errorHandle, failure, next, simulated, type Step, type StepResult } from '../contract.ts';
import { durationOrTemplate, renderDuration } from '../shared/fields.ts';
import { toStepFailure } from '../shared/perform-effect.ts';

const VoiceCallData = configObject({
  workflow_id: z.int().positive(),
  phone: z.string().min(1).max(1000).default('{{ contact.phone }}'),
  initial_context: z.record(z.string(), z.unknown()).default({}),
  wait_for_result: z.boolean().default(true),
  timeout: durationOrTemplate().default('P1D'),
});

type VoiceCallData = z.infer<typeof VoiceCallData>;

/**
 * A repeat after a crash requests the same call by the same name. The organization's call slots remember the names of calls for longer than
 * any repeat takes, so a call that is requested twice is dialled once, and no outcome is unknown.
 */
export const voiceCallNode = defineNode<VoiceCallData>({
  type: 'voice_call',
  label: 'Voice call',
  description:
    "Has the voice agent `workflow_id` call the contact, or `phone`, as soon as a call slot is free and outside the workflow's quiet hours and when the contact policy allows it; `initial_context` is what the agent knows. It sleeps until the call has ended and its talk is evaluated, and goes on at the handle of the outcome: `completed` (a person was reached), `no_answer`, `busy`, `voicemail` or `failed`; what leads nowhere goes on at `default`. The output has outcome, reason, disposition, extracted_variables, summary and duration_seconds. `timeout` (P1D) counts from when the call is asked for: a call that has not been dialled by then is taken back, and the run goes on at `failed`. With `wait_for_result` false it goes on at `default` at once. A number that must not be called, or that no numbering plan knows, leads along `failed`, an agent that is archived or has problems, or missing telephony, along `error`.",
  dataSchema: VoiceCallData,
  handles: () => [...callHandles, defaultHandle, errorHandle],
  isSideEffect: true,
  isCall: true,
  respectsQuietHours: () => true,
  needsContact: true,
  references: {
    noun: 'active voice agent',
    listPath: '/workflow/',
    find: findInField('workflow_id'),
    findExisting: findActiveAgentIds,
  },
  example: {
    workflow_id: 12,
    initial_context: { first_name: '{{ contact.first_name }}', order_id: '{{ data.order_id }}' },
    timeout: 'PT4H',
  },
  run: async (step) => {
    const { data, scope } = step;
    const timeout = renderDuration(data.timeout, scope);
    const problem = durationProblem(timeout);
    if (problem) return failure('invalid_wait', `timeout: ${problem}`);
    const raw = renderText(data.phone, scope).trim();
    if (raw === '') return failure('no_phone', `phone: ${JSON.stringify(data.phone)} gives no number; a run without contact needs a phone`);
    const reading = normalizePhone(raw, step.organization.default_country);
    if (!('phone' in reading)) return failure('invalid_phone', `phone: ${reading.detail}`);
    const initialContext = renderDeep(data.initial_context, scope) as Record<string, Json>;
    const request = { workflow_id: data.workflow_id, phone: reading.phone, initial_context: initialContext };
    if (step.dryRun) return { ...simulated(request), ...(data.wait_for_result && { handle: 'completed', fallbackHandle: defaultHandle }) };
    return startCall(step, request, timeout);
  },
});

async function startCall(
  step: Step<VoiceCallData>,
  request: { workflow_id: number; phone: string; initial_context: Record<string, Json> },
  timeout: string,
): Promise<StepResult> {
  const { call, now } = step;
  try {
    const started = await step.effects.startCall(call.item, { ...request, not_after: step.quietHoursStart });
    const output = { ...started, phone: request.phone };
    if (!step.data.wait_for_result) return { ...next(output), callRunId: started.call_run_id };
    const until = call.until ?? addExact(now, parseDuration(timeout));
    const why = `until the call to ${request.phone} has ended; one that is not dialled by then is taken back`;
    return { kind: 'wait_for_call', runId: started.call_run_id, until, output: { ...output, until: toTimestamp(until), why } };
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return toCallFailure(error, request.phone);
  }
}

/** A number that must not or cannot be called is an outcome of the call, not a failure of the step. */
function toCallFailure(error: ServiceError, phone: string): StepResult {
  if (error.word === 'suppressed' || error.word === 'number_unassignable')
    return toUndialledResult({ phone, reason: `${error.word}: ${error.message}` });
  return error.word === undefined ? toStepFailure(error) : { ...toStepFailure(error), type: error.word };
}
