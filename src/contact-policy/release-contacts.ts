import type { Context } from '../context.ts';
import type { Statement } from '../database/client.ts';
import * as store from './store.ts';

/** A statement for the caller's batch: gives back the reservation of a message that the provider did not take. */
export const releaseMessageStatement = ({ database, organization }: Context, reservation: { key: string; phone: string }): Statement =>
  store.releaseReservation(database, organization.id, reservation);

/** A statement for the caller's batch: gives back the reservations of calls that the carrier never had. */
export const releaseCallsStatement = ({ database, organization }: Context, attemptKeys: readonly string[]): Statement =>
  store.releaseCallReservations(database, organization.id, JSON.stringify(attemptKeys));
