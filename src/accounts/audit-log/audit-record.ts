import type { z } from '@hono/zod-openapi';
import { isSealed } from '../../library/security/encryption.ts';
import { replaceSecrets } from '../../library/security/replace-secrets.ts';
import { isSecretField, isUrlField } from '../../library/security/secret-names.ts';
import { toTimestamp } from '../../library/time/clock.ts';
import { emailFromHandle } from '../members/email-handles.ts';
import type { AuditEntryRecord } from './schemas.ts';
import type { AuditRow } from './store.ts';

const mask = '********';
const isMoment = (name: string): boolean => /(_at|_until|^until)$/.test(name);
const isFlag = (name: string): boolean => /^(is_|machine_detection$)/.test(name);

/** A value of a column as callers know it: moments as timestamps, JSON read, secrets masked. */
function toShownValue(name: string, value: unknown): unknown {
  if (typeof value === 'number' && isMoment(name)) return toTimestamp(value);
  if (typeof value === 'number' && isFlag(name)) return value === 1;
  const read = typeof value === 'string' && /^[[{]/.test(value) ? parseOrKeep(value) : value;
  // The name of a column says that its text is an address; secrets have columns of their own, which the entry does not have.
  return withoutSecrets(isUrlField(name) ? replaceSecrets({ [name]: read }, () => mask)[name] : replaceSecrets(read, () => mask));
}

function parseOrKeep(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The value with `********` for what is sealed, wherever it stands, and for what bears the name of a secret, whatever its type. */
function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return isSealed(value) ? mask : value;
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, isSecretField(name) && inner !== null ? mask : withoutSecrets(inner)]),
  );
}

type Change = Record<string, { before?: unknown; after?: unknown }>;
type ShownChange = Record<string, { before: unknown; after: unknown }>;

/** The change for callers; null where the entry stands for a whole request. */
function toShownChange(change: string | null): ShownChange | null {
  if (change === null) return null;
  const sides = Object.entries(JSON.parse(change) as Change);
  return Object.fromEntries(
    sides.map(([name, { before = null, after = null }]) => [
      name,
      { before: toShownValue(name, before), after: toShownValue(name, after) },
    ]),
  );
}

/** `handle` is the e-mail handle of the person; without an address, the account is gone. */
export const auditRecord = (row: AuditRow, handle: string): z.infer<typeof AuditEntryRecord> => ({
  id: row.id,
  at: toTimestamp(row.createdAt),
  user_id: row.userId,
  user_email: emailFromHandle(handle) || null,
  credential: row.credential,
  address: row.address,
  action: row.action,
  record_type: row.recordType,
  record_id: row.recordId,
  change: toShownChange(row.change),
  request_id: row.requestId,
});
