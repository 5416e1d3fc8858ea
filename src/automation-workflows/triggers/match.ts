import type { Context } from '../../accounts/context.ts';
import type { ContactRecord } from '../../contacts/records.ts';
import { commonRoots, type Origin } from '../common-roots.ts';
import { evaluate, type Condition } from '../conditions.ts';
import { entryKeyOf } from '../runs/entry-key.ts';
import type { Candidate } from '../runs/candidate.ts';
import type { RunSource } from '../runs/store.ts';
import { endTurnAfterWork } from '../../library/let-others-run.ts';
import { buildScope } from '../scope.ts';
import { settingsFrom } from '../settings.ts';
import { EvaluationError, type Scope } from '../templates.ts';
import { noteTriggerError, type ArmedTrigger } from './store.ts';

/** Something that happened and may set off triggers. */
export interface TriggerCause extends Origin {
  /** Names it; with the trigger's id it is a run's dedup key. */
  key: string;
  contact: ContactRecord | null;
  source: RunSource;
  sourceId: number | null;
  depth: number;
}

/** A cause that brings its own context: a request, or a moment of a schedule. */
export const causeWithContext = (key: string, contact: ContactRecord | null, initialContext: Record<string, unknown>): TriggerCause => ({
  key,
  contact,
  event: null,
  webhook: null,
  source: 'run',
  sourceId: null,
  initialContext,
  depth: 0,
});

/** What filters and entry keys of triggers may read: the same names as in a run, as far as they exist before one. */
export const triggerScope = (context: Context, cause: Origin & { contact: ContactRecord | null }, now: number): Scope =>
  buildScope(commonRoots(context, cause, cause.contact, now), cause.initialContext);

interface FilteringConfig {
  filter?: Condition | null;
  entry_key?: string | null;
}

type Holds = (config: FilteringConfig, scope: Scope, now: number) => boolean;

/** The run that `trigger` starts for `cause`; null when its filter does not hold. Throws EvaluationError. */
export function matchingCandidate(
  context: Context,
  trigger: ArmedTrigger,
  cause: TriggerCause,
  holds: Holds = filterHolds,
): Candidate | null {
  const now = context.clock();
  const scope = triggerScope(context, cause, now);
  const config = JSON.parse(trigger.config) as FilteringConfig;
  return holds(config, scope, now) ? candidate(trigger, config, cause, scope) : null;
}

/** None or one, as `matchingCandidate`; what can't be evaluated is the trigger's own fault: it is noted there, and other triggers go on. */
export async function candidateOf(context: Context, trigger: ArmedTrigger, cause: TriggerCause, holds?: Holds): Promise<Candidate[]> {
  await endTurnAfterWork();
  try {
    const matching = matchingCandidate(context, trigger, cause, holds);
    return matching ? [matching] : [];
  } catch (error) {
    const { message } = error as Error;
    // Nothing here asks anybody else, so trying again would end in the same way, and hold up the other journeys.
    if (!(error instanceof EvaluationError))
      context.log.error('a trigger could not be evaluated', { trigger_id: trigger.id, error: message });
    context.defer(noteTriggerError(context.database, context.organization.id, trigger.id, message));
    return [];
  }
}

const filterHolds = ({ filter }: FilteringConfig, scope: Scope, now: number): boolean => !filter || evaluate(filter, scope, now);

function candidate(trigger: ArmedTrigger, config: FilteringConfig, cause: TriggerCause, scope: Scope): Candidate {
  const settings = settingsFrom(trigger.workflow_settings);
  const template = config.entry_key ?? settings.entry_key;
  return {
    workflow: { id: trigger.workflow_id, version: trigger.workflow_version, contextSchema: trigger.workflow_context_schema, settings },
    triggerId: trigger.id,
    contactId: cause.contact?.id ?? null,
    dedupKey: `${cause.key}:trigger:${trigger.id}`,
    entryKey: entryKeyOf(template, scope, cause.contact?.id ?? null, cause.event?.id ?? null),
    source: cause.source,
    sourceId: cause.sourceId,
    initialContext: cause.initialContext,
    depth: cause.depth,
  };
}
