import { PayloadGoneError, resolvePayload } from '../../database/payload.ts';
import type { LatestEvent } from '../../events/latest-of-contact.ts';
import { toTimestamp } from '../../library/clock.ts';
import type { TriggerRow } from '../triggers/store.ts';
import { conditionCheck } from './condition-check.ts';
import { configOf, type Evidence } from './evidence.ts';
import { fate, type Look } from './look.ts';
import { occasionOfEvent, unknownOccasion, type Occasion } from './occasion.ts';

const none = 'no such event of this contact yet';
const toldTypes = 5;

/** Its filter is held against the latest event of its types. */
export async function lookAtContactEvent(evidence: Evidence, trigger: TriggerRow): Promise<Look> {
  const { event_types: types, filter } = configOf<'contact_event'>(trigger);
  const latest = evidence.events.find((event) => types.includes(event.event_type));
  const occasion = latest
    ? await occasionOf(evidence, latest).catch((error: unknown) => withoutPayload(evidence, error))
    : unknownOccasion(evidence, none, ['webhook']);
  const names = types.length > toldTypes ? [...types.slice(0, toldTypes), `one of ${types.length - toldTypes} more types`] : types;
  return {
    when: `when an event ${names.join(' or ')} of the contact comes`,
    latest: latest ? `the latest is ${wordsOf(latest)}${fate(latest)}` : none,
    checks: filter ? [conditionCheck('filter', filter, occasion, evidence.now)] : [],
    occasion,
  };
}

async function occasionOf(evidence: Evidence, event: LatestEvent): Promise<Occasion> {
  const { id, event_type: type, contact_id, created_at: createdAt } = event;
  const data = await resolvePayload(evidence.context.bindings.FILES, event.data);
  return occasionOfEvent(
    evidence,
    { id, type, contact_id, data, createdAt },
    { of: wordsOf(event), shown: { event_id: id, event_type: type, created_at: toTimestamp(createdAt) } },
  );
}

const wordsOf = ({ id, event_type, created_at }: LatestEvent): string => `event ${id} (${event_type}) of ${toTimestamp(created_at)}`;

function withoutPayload(evidence: Evidence, error: unknown): Occasion {
  if (error instanceof PayloadGoneError) return unknownOccasion(evidence, error.message, ['webhook']);
  throw error;
}
