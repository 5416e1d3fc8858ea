import { untoldFaults, validateContext } from '../context-schema.ts';
import { boundValue } from '../runs/history.ts';
import type { ExplainCheck } from '../schemas.ts';
import type { Occasion } from './occasion.ts';

type Rule = 'context_schema' | 'trigger_context_schema';

/** Whether the context that a run would start with fits `schema`; no check when the schema asks for nothing. */
export function contextChecks(rule: Rule, schema: Record<string, unknown>, occasion: Occasion): ExplainCheck[] {
  if (!Object.keys(schema).length) return [];
  const faults = faultsOf(schema, occasion.context);
  const { certain, missing, of } = occasion;
  if (certain) {
    const message = `Whether the context satisfies ${rule} depends on what comes: ${missing}${faults && `; asked for is ${faults}`}`;
    return [{ rule, passed: null, message, expected: boundValue(schema), actual: null }];
  }
  const message = faults
    ? `The context of ${of} does not satisfy ${rule}, so its run would be recorded as failed: ${faults}`
    : `The context of ${of} satisfies ${rule}`;
  return [{ rule, passed: !faults, message, expected: boundValue(schema), actual: boundValue(occasion.context) }];
}

/** The same where the caller gives the context: what it has to bring. */
export function givenContextChecks(rule: Rule, schema: Record<string, unknown>): ExplainCheck[] {
  if (!Object.keys(schema).length) return [];
  const faults = faultsOf(schema, {});
  const message = faults ? `It has to be fired with a context that satisfies ${rule}: ${faults}` : `${rule} asks for no context`;
  return [{ rule, passed: faults ? null : true, message, expected: boundValue(schema), actual: null }];
}

const toldFaults = 5;

/** Empty: `context` fits. */
function faultsOf(schema: Record<string, unknown>, context: Record<string, unknown>): string {
  const faults = validateContext(schema, context, ['context']).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
  return [...faults.slice(0, toldFaults), ...untoldFaults(faults.length, toldFaults)].join('; ');
}
