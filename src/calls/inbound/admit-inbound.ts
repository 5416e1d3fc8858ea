import type { Context } from '../../context.ts';
import { findContactsByPhone } from '../../contacts/contacts/by-phone.ts';
import { normalizePhone } from '../../library/phone/phone-numbers.ts';
import { ServiceError } from '../../library/errors.ts';
import type { CarrierEvent, StatusEvent } from '../../providers/telephony/carrier-events.ts';
import { explainUnsound } from '../../voice-agents/agents/soundness.ts';
import type { Carrier } from '../../telephony-configs/load-carrier.ts';
import { buildCallbackUrl } from '../carrier/callback-urls.ts';
import { hangUp } from '../carrier/event-actions.ts';
import { type CarrierResponse, processCarrierEvent } from '../carrier/process-carrier-event.ts';
import { insertCallRuns, selectCallRunByKey, selectRunDefinitions } from '../placing/store.ts';
import { finalizeUnanswered } from '../post-call/finalize-unanswered.ts';
import { withCallSlots } from '../rpc.ts';

/**
 * Admits a call to one of the organization's numbers: its agent takes the call if a call slot is free. A carrier that waits for a document
 * gets one. A carrier that takes commands is sent the command to answer, and the agent is connected after the carrier reports the answer.
 * Repeatable.
 */
export async function admitInbound(context: Context, carrier: Carrier, event: CarrierEvent): Promise<CarrierResponse> {
  const { database, organization, bindings, log } = context;
  if (event.callId === undefined) return { status: 'ignored' };
  const key = inboundAttemptKey(event.callId);
  const known = await database.first(selectCallRunByKey(database, organization.id, key));
  const address = (runId: number) => ({ organizationId: organization.id, configId: carrier.id, runId, key });
  const { commands, documents } = carrier.telephony;
  if (event.kind !== 'status' || event.isTerminal || event.status === 'answered')
    return known ? processCarrierEvent(context, carrier, address(known.id), event, false) : { status: 'ignored' };
  if (event.direction === 'outbound') return { status: 'ignored' };

  const runId = known?.id ?? (await insertInboundRun(context, carrier, event, key));
  const refuse = async (reason: string): Promise<CarrierResponse> => {
    log.warn('an inbound call was refused', { reason, config_id: carrier.id, run_id: runId });
    if (runId !== null) await finalizeRefused(context, key, event, reason);
    if (documents) return { document: documents.hangUp() };
    await hangUp(context, carrier, event.callId);
    return { status: 'ok' };
  };
  if (runId === null) return refuse('no_agent: the configuration has no active agent in inbound_workflow_id');
  const unsound = await explainInboundUnsound(context, key);
  if (unsound !== null) return refuse(`agent_unsound: ${unsound}`);
  const isAdmitted = await withCallSlots(bindings, organization.id, (slots) =>
    slots.admitInboundCall(organization.id, {
      key,
      runId,
      agentId: carrier.inboundAgentId!,
      configId: carrier.id,
      phone: event.from ?? '',
      ownNumber: event.to ?? '',
      callId: event.callId,
      contactId: null,
    }),
  );
  if (!isAdmitted) return refuse('call_slots: all calls that the plan allows at once are taken');
  if (documents) return processCarrierEvent(context, carrier, address(runId), event, true);
  const answer = await commands!.answer(event.callId, buildCallbackUrl(carrier, address(runId), 'status'), `${key}:answer`);
  if (!('failure' in answer)) return { status: 'ok' };
  log.error('an inbound call could not be answered', new Error(answer.failure), { run_id: runId });
  throw new ServiceError('provider_failed', 'The carrier did not answer the call; send this again');
}

const inboundAttemptKey = (callId: string) => `inbound:${callId}`;

/** Inserts the row of an inbound call. Null: no agent takes calls of this configuration. */
async function insertInboundRun(context: Context, carrier: Carrier, event: StatusEvent, key: string): Promise<number | null> {
  if (carrier.inboundAgentId === null) return null;
  const { database, organization, clock } = context;
  const reading = normalizePhone(event.from ?? '', organization.defaultCountry);
  const phone = 'phone' in reading ? reading.phone : (event.from ?? '');
  const contact = (await findContactsByPhone(context, [phone])).get(phone);
  const run = {
    attempt_key: key,
    agent_id: carrier.inboundAgentId,
    name: `Inbound call from ${phone || 'an unknown number'}`,
    phone,
    own_number: event.to ?? null,
    mode: carrier.provider,
    call_type: 'inbound',
    contact_id: contact?.id ?? null,
    campaign_id: null,
    automation_run_id: null,
    initial_context: JSON.stringify({ phone_number: phone }),
  };
  await database.batch([insertCallRuns(database, organization.id, JSON.stringify([run]), clock())], 'voice_agent_run.attempt_key');
  return (await database.first(selectCallRunByKey(database, organization.id, key)))?.id ?? null;
}

async function explainInboundUnsound(context: Context, key: string): Promise<string | null> {
  const { database, organization } = context;
  const found = await database.first(selectRunDefinitions(database, organization.id, JSON.stringify([key])));
  return found && explainUnsound(context, JSON.parse(found.definition) as Record<string, unknown>, found.agent_id);
}

async function finalizeRefused(context: Context, key: string, event: StatusEvent, reason: string): Promise<void> {
  await finalizeUnanswered(context, [
    {
      key,
      outcome: 'failed',
      reason,
      returned: null,
      returnedUntil: null,
      neverReachedCarrier: false,
      ownNumber: event.to ?? null,
      answeredAt: null,
      endedAt: context.clock(),
      durationSeconds: 0,
      statusCallbacks: [],
    },
  ]);
}
