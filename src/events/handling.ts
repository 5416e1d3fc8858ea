import type { Context } from '../context.ts';
import * as store from './store.ts';

export type { EventToHandle } from './store.ts';

// What journeys need of accepted events: which of them are unhandled, and the mark that they are handled.

export const findUnhandledEvents = ({ database, organization }: Context, ids: number[]): Promise<store.EventToHandle[]> =>
  store.findUnhandledEvents(database, organization.id, ids);

export const findEventsToHandle = ({ database, organization }: Context, ids: number[]): Promise<store.EventToHandle[]> =>
  store.findEventsToHandle(database, organization.id, ids);

/** Says of a handled event that a part of its work was given up. */
export const addEventNote = ({ database, organization }: Context, id: number, note: string): Promise<void> =>
  store.addEventNote(database, organization.id, id, note);

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
