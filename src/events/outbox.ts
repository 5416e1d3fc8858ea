import type { Context } from '../accounts/context.ts';
import * as store from './store.ts';

export type { EventToHandle } from './store.ts';

// What journeys need of accepted events: which of them are unhandled, and the mark that they are handled.

export const unhandledEvents = ({ database, organization }: Context, ids: number[]): Promise<store.EventToHandle[]> =>
  store.unhandledEvents(database, organization.id, ids);

/** `notes` say why an event started no run of a journey that it fits. */
export const markEventsHandled = (
  { database, organization, clock }: Context,
  events: store.EventToHandle[],
  notes: ReadonlyMap<number, string>,
): Promise<void> =>
  store.markHandled(
    database,
    organization.id,
    events.map(({ id }) => ({ id, note: notes.get(id) ?? null })),
    clock(),
  );
