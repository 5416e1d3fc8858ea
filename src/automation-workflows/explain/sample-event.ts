import type { Scope } from '../../expressions/templates/render.ts';
import type { EvaluationInput } from './evaluation-input.ts';
import { type RunEvent, toDeliveryVariables, type DeliveryPayload, buildCauseScope, toEventCause } from '../runs/cause.ts';

/** The event that a trigger's rules are evaluated for: the latest real one, or a placeholder of which only a part is known. */
export interface SampleEvent {
  scope: Scope;
  /** The names in `scope` whose values are already known; null: all are. */
  knownRoots: ReadonlySet<string> | null;
  /** The initial context of the run that the event would start, as far as it is known. */
  context: Record<string, unknown>;
  /** Names the event in messages, after the word "for". */
  label: string;
  /** Why a part is unknown; empty when all is known. */
  unknownReason: string;
  /** Names the event for programs. */
  details: Record<string, unknown> | null;
}

export const currentContactLabel = 'the contact as it is now';

/** The placeholder for a trigger that no event has fired yet: only the contact and the roots in `alsoKnown` are known. */
export function unknownSample(input: EvaluationInput, unknownReason: string, alsoKnown: ('event' | 'webhook')[]): SampleEvent {
  const origin = { event: null, webhook: null, initialContext: {}, contact: input.contact };
  return {
    scope: buildCauseScope(input.context, origin, input.now),
    knownRoots: new Set(['contact', 'organization', 'now', 'steps', 'run', ...alsoKnown]),
    context: {},
    label: currentContactLabel,
    unknownReason,
    details: null,
  };
}

type SampleDescription = Pick<SampleEvent, 'label' | 'details'>;

export function sampleFromEvent({ context, contact, now }: EvaluationInput, event: RunEvent, description: SampleDescription): SampleEvent {
  const cause = toEventCause(event, contact);
  return {
    ...description,
    scope: buildCauseScope(context, cause, now),
    knownRoots: null,
    context: cause.initialContext,
    unknownReason: '',
  };
}

export function sampleFromDelivery(
  { context, contact, now }: EvaluationInput,
  payload: DeliveryPayload,
  description: SampleDescription,
): SampleEvent {
  const initialContext = toDeliveryVariables(payload);
  const scope = buildCauseScope(context, { event: null, webhook: payload, initialContext, contact }, now);
  return { ...description, scope, knownRoots: null, context: initialContext, unknownReason: '' };
}

/** A firing whose initial context is known beforehand, such as that of a schedule. */
export function sampleWithContext(
  { context, contact, now }: EvaluationInput,
  initialContext: Record<string, unknown>,
  description: SampleDescription,
): SampleEvent {
  const scope = buildCauseScope(context, { event: null, webhook: null, initialContext, contact }, now);
  return { ...description, scope, knownRoots: null, context: initialContext, unknownReason: '' };
}
