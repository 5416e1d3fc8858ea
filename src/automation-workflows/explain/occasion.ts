import type { OfferedEvent } from '../runs/surroundings.ts';
import { variablesOfDelivery, type DeliveryPayload } from '../runs/records.ts';
import type { Scope } from '../templates.ts';
import { causeOf } from '../triggers/exit-runs.ts';
import { triggerScope } from '../triggers/match.ts';
import type { Evidence } from './evidence.ts';

/** What a trigger's rules are held against: something that came, or what is certain of what may come. */
export interface Occasion {
  scope: Scope;
  /** The names in the scope whose values are certain before it comes; null: all are. */
  certain: ReadonlySet<string> | null;
  /** The context that a run would start with, as far as it is known. */
  context: Record<string, unknown>;
  /** What it is, to be read after "for". */
  of: string;
  /** Why not all of it is certain; empty where all is. */
  missing: string;
  /** What it is, to be read by programs. */
  shown: Record<string, unknown> | null;
}

export const theContact = 'the contact as it is now';

/** Nothing that fires the trigger has come: only what is known of the contact is certain. */
export function unknownOccasion(evidence: Evidence, missing: string, alsoCertain: ('event' | 'webhook')[]): Occasion {
  const origin = { event: null, webhook: null, initialContext: {}, contact: evidence.contact };
  return {
    scope: triggerScope(evidence.context, origin, evidence.now),
    certain: new Set(['contact', 'organization', 'now', 'steps', 'run', ...alsoCertain]),
    context: {},
    of: theContact,
    missing,
    shown: null,
  };
}

type Known = Pick<Occasion, 'of' | 'shown'>;

export function occasionOfEvent({ context, contact, now }: Evidence, event: OfferedEvent, known: Known): Occasion {
  const cause = causeOf(event, contact);
  return { ...known, scope: triggerScope(context, cause, now), certain: null, context: cause.initialContext, missing: '' };
}

export function occasionOfDelivery({ context, contact, now }: Evidence, payload: DeliveryPayload, known: Known): Occasion {
  const initialContext = variablesOfDelivery(payload);
  const scope = triggerScope(context, { event: null, webhook: payload, initialContext, contact }, now);
  return { ...known, scope, certain: null, context: initialContext, missing: '' };
}

/** A firing that brings a context of its own which is known beforehand. */
export function occasionWithContext({ context, contact, now }: Evidence, initialContext: Record<string, unknown>, known: Known): Occasion {
  const scope = triggerScope(context, { event: null, webhook: null, initialContext, contact }, now);
  return { ...known, scope, certain: null, context: initialContext, missing: '' };
}
