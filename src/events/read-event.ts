import type { Database, Statement } from '../database/client.ts';
import { storedEventStatement, type HandledEvent } from './store.ts';

export type { HandledEvent } from './store.ts';

/** Reads an event of the organization with how it was handled. No row: it has no such event. */
export const readEventStatement = (database: Database, organizationId: number, id: number): Statement<HandledEvent> =>
  storedEventStatement(database, organizationId, id);
