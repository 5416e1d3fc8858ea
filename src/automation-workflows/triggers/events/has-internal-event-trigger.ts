import type { Context } from '../../../context.ts';
import type { InternalEvent } from './fire-internal-event.ts';
import { triggersByTopicsStatement } from '../store.ts';

/** Whether any active trigger waits for an internal event: for work that would otherwise tell of thousands one by one. */
export async function hasInternalEventTrigger({ database, organization }: Context, name: InternalEvent['name']): Promise<boolean> {
  return (await database.first(triggersByTopicsStatement(database, organization.id, [`event:${name}`]))) !== null;
}
