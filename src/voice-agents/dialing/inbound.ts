import type { Context } from '../../accounts/context.ts';
import { contactsByPhone } from '../../contacts/contacts-by-phone.ts';
import { normalizePhone } from '../../contacts/phone-numbers.ts';
import { ServiceError } from '../../library/errors.ts';
import { hangUpDocument } from '../../providers/telephony/call-document.ts';
import type { CarrierEvent, StatusEvent } from '../../providers/telephony/carrier-events.ts';
import { whyUnsound } from '../agents/soundness.ts';
import type { Carrier } from '../telephony-configs/carrier-of.ts';
import { callbackUrl } from './callback-urls.ts';
import { endLine } from './end-line.ts';
import { hearCarrier, type Heard } from './hear-carrier.ts';
import { callRunByKey, definitionsOfRuns, insertCallRuns, type DefinitionOfRuns } from './call-run-store.ts';
import { settleSilent } from './settle-silent.ts';
import { callSlots } from './slots.ts';

const keyOf = (callId: string) => `inbound:${callId}`;

/**
 * A call to one of the organization's numbers: its agent takes it when a call slot is free. A carrier that waits for a document is given one;
 * one that takes commands is told to answer, and connects when it tells that the call was answered. Repeatable.
 */
export async function takeInbound(context: Context, carrier: Carrier, event: CarrierEvent): Promise<Heard> {
  const { database, organization, bindings, log } = context;
  if (event.callId === undefined) return { status: 'ignored' };
  const key = keyOf(event.callId);
  const known = await database.first<{ id: number }>(callRunByKey(database, organization.id, key));
  const address = (runId: number) => ({ organizationId: organization.id, configId: carrier.id, runId, key });
  const isCarrierWaiting = !carrier.telephony.commands;
  if (event.kind !== 'status' || event.isTerminal || event.status === 'answered')
    return known ? hearCarrier(context, carrier, address(known.id), event, false) : { status: 'ignored' };
  if (event.direction === 'outbound') return { status: 'ignored' };

  const runId = known?.id ?? (await writeRun(context, carrier, event, key));
  const refuse = async (reason: string): Promise<Heard> => {
    log.warn('an inbound call was refused', { reason, config_id: carrier.id, run_id: runId });
    if (runId !== null) await settleRefused(context, key, event, reason);
    if (isCarrierWaiting) return { document: hangUpDocument() };
    await endLine(context, carrier, event.callId);
    return { status: 'ok' };
  };
  if (runId === null) return refuse('no_agent: the configuration has no active agent in inbound_workflow_id');
  const unsound = await whyInboundUnsound(context, key);
  if (unsound !== null) return refuse(`agent_unsound: ${unsound}`);
  const isAdmitted = await callSlots(bindings, organization.id, (slots) =>
    slots.admitInbound(organization.id, {
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
  if (isCarrierWaiting) return hearCarrier(context, carrier, address(runId), event, true);
  const answer = await carrier.telephony.commands!.answer(event.callId, callbackUrl(carrier, address(runId), 'status'), `${key}:answer`);
  if (!('failure' in answer)) return { status: 'ok' };
  log.error('an inbound call could not be answered', new Error(answer.failure), { run_id: runId });
  throw new ServiceError('provider_failed', 'The carrier did not answer the call; send this again');
}

/** The row of an inbound call; null when there is no agent to take it. */
async function writeRun(context: Context, carrier: Carrier, event: StatusEvent, key: string): Promise<number | null> {
  if (carrier.inboundAgentId === null) return null;
  const { database, organization, clock } = context;
  const reading = normalizePhone(event.from ?? '', organization.defaultCountry);
  const phone = 'phone' in reading ? reading.phone : (event.from ?? '');
  const contact = (await contactsByPhone(context, [phone])).get(phone);
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
  return (await database.first<{ id: number }>(callRunByKey(database, organization.id, key)))?.id ?? null;
}

async function whyInboundUnsound(context: Context, key: string): Promise<string | null> {
  const { database, organization } = context;
  const found = await database.first<DefinitionOfRuns>(definitionsOfRuns(database, organization.id, JSON.stringify([key])));
  return found && whyUnsound(context, JSON.parse(found.definition) as Record<string, unknown>, found.agent_id);
}

async function settleRefused(context: Context, key: string, event: StatusEvent, reason: string): Promise<void> {
  await settleSilent(context, [
    {
      key,
      outcome: 'failed',
      reason,
      returned: null,
      returnedUntil: null,
      ownNumber: event.to ?? null,
      answeredAt: null,
      endedAt: context.clock(),
      durationSeconds: 0,
      statusCallbacks: [],
    },
  ]);
}
