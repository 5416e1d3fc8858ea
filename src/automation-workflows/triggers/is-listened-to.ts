import type { Context } from '../../accounts/context.ts';
import type { InternalEvent } from './fire-internal-event.ts';
import { armedByTopics } from './store.ts';

/** Whether any active trigger waits for an internal event: for work that would otherwise tell of thousands one by one. */
export async function isListenedTo({ database, organization }: Context, name: InternalEvent['name']): Promise<boolean> {
  return (await database.first(armedByTopics(database, organization.id, [`event:${name}`]))) !== null;
}
