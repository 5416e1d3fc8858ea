import type { ExplainCheck } from '../schemas.ts';
import type { internalEvents } from '../triggers/internal-events.ts';
import type { TriggerRow } from '../triggers/store.ts';
import { conditionCheck } from './condition-check.ts';
import { configOf, type Evidence } from './evidence.ts';
import type { Look } from './look.ts';
import { unknownOccasion } from './occasion.ts';

type EventName = (typeof internalEvents)[number];

const ofNoContact: ReadonlySet<EventName> = new Set(['campaign.completed', 'document.processed', 'document.failed']);

/** What the service reports is not kept, so its filter is held against what is certain of the contact. */
export function lookAtInternalEvent(evidence: Evidence, trigger: TriggerRow): Look {
  const { event, filter } = configOf<'event'>(trigger);
  const occasion = unknownOccasion(evidence, `the data of ${event} are known when it is reported`, ['webhook']);
  return {
    when: `when the service reports ${event} of the contact`,
    latest: '',
    checks: [...eventChecks(evidence, event), ...(filter ? [conditionCheck('filter', filter, occasion, evidence.now)] : [])],
    occasion,
  };
}

function eventChecks({ contact }: Evidence, event: EventName): ExplainCheck[] {
  const base = { rule: 'event' as const, passed: false, expected: 'an event of the contact' };
  if (event === 'contact.created') {
    const message = `${event} is reported once, and the contact was created at ${contact.created_at}`;
    return [{ ...base, message, actual: { created_at: contact.created_at } }];
  }
  if (ofNoContact.has(event)) return [{ ...base, message: `${event} is about no contact, so its run has none`, actual: null }];
  return [];
}
