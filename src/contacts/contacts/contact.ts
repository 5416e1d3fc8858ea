/** The writable fields of a contact. */
export interface ContactValues {
  external_id: string | null;
  /** E.164. */
  phone: string | null;
  email: string | null;
  first_name: string | null;
  last_name: string | null;
  company: string | null;
  title: string | null;
  tags: string[];
  custom_fields: Record<string, unknown>;
}

/** A contact that is not deleted. `created_at` and `updated_at` in epoch ms. */
export interface Contact extends ContactValues {
  id: number;
  organization_id: number;
  created_at: number;
  updated_at: number;
  revision: number;
}

/** A requested change of a contact: absent fields stay, null clears. */
export interface ContactChange extends Partial<Omit<ContactValues, 'tags' | 'custom_fields'>> {
  /** Replaces all tags. */
  tags?: string[];
  add_tags?: string[];
  remove_tags?: string[];
  /** Merged key by key: null as a value removes the key, null for the whole field removes all keys. */
  custom_fields?: Record<string, unknown> | null;
}

export const textFields = ['phone', 'email', 'external_id', 'first_name', 'last_name', 'company', 'title'] as const;

export const emptyContactValues: ContactValues = {
  external_id: null,
  phone: null,
  email: null,
  first_name: null,
  last_name: null,
  company: null,
  title: null,
  tags: [],
  custom_fields: {},
};

/** Whether the values hold a phone, an email or an external id. A contact without any of them could never be found again. */
export const hasKey = (values: ContactValues): boolean => values.phone !== null || values.email !== null || values.external_id !== null;

export const fullName = (contact: Pick<ContactValues, 'first_name' | 'last_name'>): string =>
  [contact.first_name, contact.last_name].filter(Boolean).join(' ');
