import type { Context } from '../../context.ts';
import { findContactsByPhone } from '../../contacts/contacts/by-phone.ts';
import { findContacts } from '../../contacts/contacts/find-contacts.ts';
import { normalizePhone } from '../../library/phone/phone-numbers.ts';
import { invalidAt, notFound } from '../../library/errors.ts';
import { type AgentWithDefinition, requireActive } from '../../voice-agents/agents/find-agents.ts';
import { requireSound } from '../../voice-agents/agents/soundness.ts';
import { resolveRunName } from '../records/idempotent-run.ts';
import { requestAgain } from './request-again.ts';
import { requestCall, singleOwner } from './request-call.ts';
import { ownerName } from '../contract.ts';
export { requestCall, withdrawCall } from './request-call.ts';

export interface StartCallInput {
  /** As typed. */
  phone?: string | null | undefined;
  contact_id?: number | null | undefined;
  initial_context?: Record<string, unknown> | null | undefined;
}

/**
 * Has one person called: at a number, or a contact at its number. Answers the id of the run, which is the same for a repeat under the same
 * Idempotency-Key. Throws 404, 409 and 422.
 */
export async function startCall(
  context: Context,
  agent: Pick<AgentWithDefinition, 'id' | 'name' | 'status' | 'workflow_definition'>,
  input: StartCallInput,
  idempotencyKey?: string,
): Promise<{ runId: number }> {
  // The run has no id yet, so the request names the call.
  const { attemptKey, runId } = await resolveRunName(context, ownerName(singleOwner), {
    of: `call:${agent.id}`,
    input: input,
    idempotencyKey,
  });
  if (runId !== null) {
    await requestKnownCallAgain(context, runId);
    return { runId };
  }
  requireActive(agent);
  await requireSound(context, agent, ['path', 'workflow_id']);
  const { phone, contactId } = await resolveCallee(context, input);
  return requestCall(context, {
    owner: singleOwner,
    key: attemptKey,
    agent,
    phone,
    contactId,
    automationRunId: null,
    initialContext: input.initial_context ?? {},
    notAfter: null,
  });
}

/** Repeats a request whose first try may not have reached the call slots. */
const requestKnownCallAgain = ({ bindings, database, organization, log }: Context, runId: number): Promise<void> =>
  requestAgain(bindings, database, organization.id, [runId]).catch((error: unknown) =>
    log.error('a call waits for the minute tick', error, { run_id: runId }),
  );

async function resolveCallee(context: Context, input: StartCallInput): Promise<{ phone: string; contactId: number | null }> {
  if (input.contact_id != null) {
    const contact = (await findContacts(context, [input.contact_id])).get(input.contact_id);
    if (!contact) throw notFound('Contact');
    if (!contact.phone)
      throw invalidAt(['body', 'contact_id'], `Contact ${contact.id} has no phone; give it one, or send "phone"`, 'no_phone');
    return { phone: contact.phone, contactId: contact.id };
  }
  const reading = normalizePhone(input.phone ?? '', context.organization.defaultCountry);
  if (!('phone' in reading)) throw invalidAt(['body', 'phone'], `The phone ${reading.detail}`, reading.reason);
  const contact = (await findContactsByPhone(context, [reading.phone])).get(reading.phone);
  return { phone: reading.phone, contactId: contact?.id ?? null };
}
