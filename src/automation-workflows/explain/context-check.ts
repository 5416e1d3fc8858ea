import { omittedFaultsNote, validateContext } from '../../expressions/schemas/context-schema.ts';
import type { ExplainCheck } from './schemas.ts';
import type { SampleEvent } from './sample-event.ts';
import { truncateValue } from '../../library/json/truncate-value.ts';

type ContextRule = 'context_schema' | 'trigger_context_schema';

/** Whether the context that a run would start with fits `schema`; no check when `schema` is empty. */
export function contextChecks(rule: ContextRule, schema: Record<string, unknown>, sample: SampleEvent): ExplainCheck[] {
  if (!Object.keys(schema).length) return [];
  const faults = describeFaults(schema, sample.context);
  const { knownRoots, unknownReason, label } = sample;
  if (knownRoots) {
    const message = `Whether the context satisfies ${rule} depends on what comes: ${unknownReason}${faults && `; asked for is ${faults}`}`;
    return [{ rule, passed: null, message, expected: truncateValue(schema), actual: null }];
  }
  const message = faults
    ? `The context of ${label} does not satisfy ${rule}, so its run would be recorded as failed: ${faults}`
    : `The context of ${label} satisfies ${rule}`;
  return [{ rule, passed: !faults, message, expected: truncateValue(schema), actual: truncateValue(sample.context) }];
}

/** As `contextChecks`, for a trigger whose caller gives the context: the message lists the keys that the caller has to give. */
export function callerContextChecks(rule: ContextRule, schema: Record<string, unknown>): ExplainCheck[] {
  if (!Object.keys(schema).length) return [];
  const faults = describeFaults(schema, {});
  const message = faults ? `It has to be fired with a context that satisfies ${rule}: ${faults}` : `${rule} asks for no context`;
  return [{ rule, passed: faults ? null : true, message, expected: truncateValue(schema), actual: null }];
}

const maxListedFaults = 5;

/** The first faults of `context`, in one line; empty when `context` fits. */
function describeFaults(schema: Record<string, unknown>, context: Record<string, unknown>): string {
  const faults = validateContext(schema, context, ['context']).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
  return [...faults.slice(0, maxListedFaults), ...omittedFaultsNote(faults.length, maxListedFaults)].join('; ');
}
