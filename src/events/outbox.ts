import type { Context } from '../accounts/context.ts';
import * as store from './store.ts';

export type { EventToHandle } from './store.ts';

// What journeys need of accepted events: which of them are unhandled, and the mark that they are handled.

export const unhandledEvents = ({ database, organization }: Context, ids: number[]): Promise<store.EventToHandle[]> =>
  store.unhandledEvents(database, organization.id, ids);

export const markEventsHandled = ({ database, organization, clock }: Context, events: store.EventToHandle[]): Promise<void> =>
  store.markHandled(
    database,
    organization.id,
    events.map((event) => event.id),
    clock(),
  );
