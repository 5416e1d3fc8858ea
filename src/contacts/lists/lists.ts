import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { requireWithinLimit, enforcePlanLimit } from '../../accounts/organizations/plan-limits.ts';
import { violatedUniqueColumns } from '../../database/client.ts';
import { cutPage, decodeCursor, type Page } from '../../http/pagination.ts';
import { conflict, notFound } from '../../library/errors.ts';
import { enqueueCleanup } from '../../outbox/enqueue.ts';
import { cleanLine } from '../../library/text/clean-text.ts';
import type { ListChange, NewList } from './schemas.ts';
import * as store from './store.ts';
import { findList } from './store.ts';

/** Creates a list. Throws 409 when the name is taken, compared without case, and 403 at the plan's limit of lists. */
export function createList(context: Context, body: z.output<typeof NewList>): Promise<store.ContactList> {
  const { name, description = null, metadata, column_schema } = body;
  const values = { name, description, metadata: metadata ?? {}, column_schema: column_schema ?? [] };
  return withNameConflictError(context, name, () =>
    enforcePlanLimit(context.organization, () => store.insertList(context.database, context.organization, values, context.clock())),
  );
}

/** Creates the list unless one has this name; answers whether it is new. Throws 403 at the plan's limit of lists. */
export async function ensureListNamed({ database, organization, clock }: Context, name: string): Promise<boolean> {
  const ensured = [store.ensureList(database, organization.id, name, clock()), requireWithinLimit(database, organization, 'max_lists')];
  const [rows] = await enforcePlanLimit(organization, () =>
    database.batchOnce(ensured, async ({ changes, rowId }) => [changes ? [{ id: rowId }] : []]),
  );
  return rows!.length > 0;
}

/** Throws 404. */
export async function readList(context: Context, id: number): Promise<store.ContactList> {
  const list = await store.findList(context.database, context.organization.id, id);
  if (!list) throw notFound('Contact list');
  return list;
}

/** Writes the fields that differ, if any. Throws 404, and 409 when another list has the name. */
export async function updateList(context: Context, id: number, body: z.output<typeof ListChange>): Promise<store.ContactList> {
  const before = await readList(context, id);
  const wanted: Partial<store.ListValues> = {
    ...(body.name === undefined ? {} : { name: body.name }),
    ...(body.description === undefined ? {} : { description: body.description }),
    ...(body.metadata === undefined ? {} : { metadata: body.metadata ?? {} }),
    ...(body.column_schema === undefined ? {} : { column_schema: body.column_schema ?? [] }),
  };
  const isNew = ([field, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(before[field as keyof store.ListValues]);
  const change = Object.fromEntries(Object.entries(wanted).filter(isNew)) as Partial<store.ListValues>;
  if (!Object.keys(change).length) return before;
  const after = await withNameConflictError(context, change.name ?? before.name, () =>
    store.updateList(context.database, context.organization.id, id, change, context.clock()),
  );
  if (!after) throw notFound('Contact list');
  return after;
}

/** Deletes a list; its contacts stay. Its name is free at once; a cleanup removes the membership rows page by page. Throws 404. */
export async function deleteList(context: Context, id: number): Promise<void> {
  const cleanup = await store.tombstoneList(context.database, context.organization.id, id, context.clock());
  if (cleanup === null) throw notFound('Contact list');
  enqueueCleanup(context, cleanup);
}

const position = ({ id }: { id: number }) => ({ value: null, id });

/** One page of the lists, newest first; `search` is part of the name. */
export async function listLists(context: Context, { search, ...page }: Page & { search?: string | undefined }) {
  const wanted = search === undefined ? undefined : cleanLine(search) || undefined;
  const found = await store.findLists(context.database, context.organization.id, wanted, page, decodeCursor(page.cursor));
  return { ...cutPage(found.lists, page.limit, position), total: found.total };
}

/** One page of the lists that contain the contact, newest first. Throws 404 without the contact. */
export async function listListsOfContact(context: Context, contactId: number, page: Page) {
  const found = await store.findListsOfContact(context.database, context.organization.id, contactId, page, decodeCursor(page.cursor));
  if (!found) throw notFound('Contact');
  return { ...cutPage(found.lists, page.limit, position), total: found.total };
}

async function withNameConflictError<T>(context: Context, name: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!violatedUniqueColumns(error)) throw error;
    const holder = await store.findListId(context.database, context.organization.id, name);
    throw conflict(
      `The name "${name}" is taken by contact list ${holder ?? 'that was just made'}; names are compared without case, choose another`,
    );
  }
}

/** Whether the list exists in the organization. */
export const listExists = async ({ database, organization }: Context, listId: number): Promise<boolean> =>
  (await findList(database, organization.id, listId)) !== null;
