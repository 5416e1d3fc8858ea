import type { RunEvent } from '../runs/engine/dependencies.ts';
import { toDeliveryVariables, type DeliveryPayload } from '../runs/queries/records.ts';
import type { Scope } from '../../expressions/templates/render.ts';
import { toEventCause } from '../runs/exits/exit-runs.ts';
import { buildCauseScope } from '../triggers/match-trigger.ts';
import type { EvaluationInput } from './evaluation-input.ts';

/** What a trigger's rules are held against: something that came, or what is certain of what may come. */
export interface SampleEvent {
  scope: Scope;
  /** The names in the scope whose values are certain before it comes; null: all are. */
  knownRoots: ReadonlySet<string> | null;
  /** The context that a run would start with, as far as it is known. */
  context: Record<string, unknown>;
  /** What it is, to be read after "for". */
  label: string;
  /** Why not all of it is certain; empty where all is. */
  unknownReason: string;
  /** What it is, to be read by programs. */
  details: Record<string, unknown> | null;
}

export const currentContactLabel = 'the contact as it is now';

/** Nothing that fires the trigger has come: only what is known of the contact is certain. */
export function unknownSample(evidence: EvaluationInput, missing: string, alsoCertain: ('event' | 'webhook')[]): SampleEvent {
  const origin = { event: null, webhook: null, initialContext: {}, contact: evidence.contact };
  return {
    scope: buildCauseScope(evidence.context, origin, evidence.now),
    knownRoots: new Set(['contact', 'organization', 'now', 'steps', 'run', ...alsoCertain]),
    context: {},
    label: currentContactLabel,
    unknownReason: missing,
    details: null,
  };
}

type SampleDescription = Pick<SampleEvent, 'label' | 'details'>;

export function sampleFromEvent({ context, contact, now }: EvaluationInput, event: RunEvent, known: SampleDescription): SampleEvent {
  const cause = toEventCause(event, contact);
  return { ...known, scope: buildCauseScope(context, cause, now), knownRoots: null, context: cause.initialContext, unknownReason: '' };
}

export function sampleFromDelivery(
  { context, contact, now }: EvaluationInput,
  payload: DeliveryPayload,
  known: SampleDescription,
): SampleEvent {
  const initialContext = toDeliveryVariables(payload);
  const scope = buildCauseScope(context, { event: null, webhook: payload, initialContext, contact }, now);
  return { ...known, scope, knownRoots: null, context: initialContext, unknownReason: '' };
}

/** A firing that brings a context of its own which is known beforehand. */
export function sampleWithContext(
  { context, contact, now }: EvaluationInput,
  initialContext: Record<string, unknown>,
  known: SampleDescription,
): SampleEvent {
  const scope = buildCauseScope(context, { event: null, webhook: null, initialContext, contact }, now);
  return { ...known, scope, knownRoots: null, context: initialContext, unknownReason: '' };
}
