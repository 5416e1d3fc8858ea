import { customType, integer, text } from 'drizzle-orm/sqlite-core';

/** Epoch milliseconds; shown as an ISO timestamp by the areas' record functions. */
export const moment = (name: string) => integer(name, { mode: 'number' });

/** A JSON value kept as text. */
export const json = <T>(name: string) => text(name, { mode: 'json' }).$type<T>();

export const flag = (name: string) => integer(name, { mode: 'boolean' });

/** Text compared without case (ASCII), for names that are unique however they are written. */
export const caselessText = customType<{ data: string }>({ dataType: () => 'text COLLATE NOCASE' });
