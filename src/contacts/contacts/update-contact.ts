import type { Context } from '../../context.ts';
import { retryOnConflict } from '../../database/compare-and-set.ts';
import { conflict, invalid, invalidAt, notFound } from '../../library/errors.ts';
import { toIssues } from '../../library/json/zod-issues.ts';
import { enqueueContactChanges } from '../../outbox/enqueue.ts';
import { applyChange, findChangedFields } from './apply-change.ts';
import { hasKey, type Contact, type ContactChange } from './contact.ts';
import { detectFieldTypes } from './custom-fields.ts';
import { findSizeError, parseFields } from './parse-fields.ts';
import { toContactRecord, type ContactRecord } from './records.ts';
import { ContactBody, type ContactFields } from './schemas.ts';
import { findContact, isKeyTaken, updateContactRow } from './store.ts';
import { requireFreeKeys } from './write-errors.ts';

/**
 * Updates a contact: absent fields stay, null clears, custom fields merge key by key, tags are replaced. Throws 404 without the contact,
 * 422 for unusable fields, 409 when another contact has the phone or the external id.
 */
export async function updateContact(context: Context, id: number, fields: ContactFields): Promise<ContactRecord> {
  const change = parseFields(fields, context.organization.defaultCountry, 'body');
  const contact = await writeChange(context, id, change, { depth: 0, place: 'body', known: null });
  if (!contact) throw notFound('Contact');
  return toContactRecord(contact);
}

/** A journey's change of its contact. Keys of `set` are standard fields or `custom_fields.<key>`; null clears. */
export interface ContactEdit {
  set?: Record<string, unknown>;
  add_tags?: string[];
  remove_tags?: string[];
}

const customFieldPattern = /^custom_fields\.(.+)$/s;

/**
 * Applies a journey's edit and answers the contact afterwards; null when the contact does not exist. Repeating an edit writes nothing.
 * `depth`: how many journeys led to this write. `known`: the contact as it was just read, which saves a read. Throws 422 for unusable values, 409 when another contact has the phone or external id.
 *
 * @example await editContact(context, 17, { set: { title: 'CTO', 'custom_fields.score': 80 }, add_tags: ['lead'] }, { depth: 1 })
 */
export async function editContact(
  context: Context,
  id: number,
  edit: ContactEdit,
  { depth, known = null }: { depth: number; known?: Contact | null },
): Promise<Contact | null> {
  const fields: Record<string, unknown> = {};
  const customFields: [string, unknown][] = [];
  for (const [name, value] of Object.entries(edit.set ?? {})) {
    const key = customFieldPattern.exec(name)?.[1];
    if (key === undefined) fields[name] = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
    else customFields.push([key, value]);
  }
  if (customFields.length) fields.custom_fields = Object.fromEntries(customFields);
  const parsed = ContactBody.safeParse(fields);
  if (!parsed.success) throw invalid(toIssues(parsed.error, ['set']));
  const change = parseFields(parsed.data, context.organization.defaultCountry, 'set');
  const tags = { add_tags: edit.add_tags ?? [], remove_tags: edit.remove_tags ?? [] };
  return writeChange(context, id, { ...change, ...tags }, { depth, place: 'set', known });
}

/** The contact afterwards; null when it does not exist. A change without effect writes nothing. `place` begins the `loc` of a 422. */
async function writeChange(
  context: Context,
  id: number,
  change: ContactChange,
  { depth, place, known }: { depth: number; place: string; known: Contact | null },
): Promise<Contact | null> {
  const { database, organization } = context;
  let first = known;
  const written = await retryOnConflict(async (): Promise<{ contact: Contact | null; hasChanges: boolean } | null> => {
    const before = first ?? (await findContact(database, organization.id, id));
    first = null;
    if (!before) return { contact: null, hasChanges: false };
    const after = applyChange(before, change);
    const changed = findChangedFields(before, after);
    if (!changed.length) return { contact: before, hasChanges: false };
    if (!hasKey(after))
      throw invalidAt([place], 'Would leave the contact without phone, email and external_id; keep at least one', 'no_key');
    const sizeError = findSizeError(after);
    if (sizeError) throw invalidAt([place, sizeError.field], sizeError.detail, sizeError.code);
    const write = { organizationId: organization.id, now: context.clock(), depth };
    try {
      return await updateContactRow(database, before, after, changed, detectFieldTypes(change.custom_fields), write);
    } catch (error) {
      if (!isKeyTaken(error)) throw error;
      await requireFreeKeys(context, after, id);
      return null;
    }
  });
  if (!written) throw conflict(`Contact ${id} keeps being changed by others; try again`);
  if (written.hasChanges) enqueueContactChanges(context);
  return written.contact;
}
