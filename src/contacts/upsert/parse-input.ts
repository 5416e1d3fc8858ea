import { Buffer } from 'node:buffer';
import { invalidAt } from '../../library/errors.ts';
import type { UpsertRow } from './resolve-existing.ts';

/** Each of these lists travels as one value, of which the database takes 2 MB; half of it is left for what stands around them. */
const maxBytes = 1_000_000;

/** Throws 422 where the keys or the names of custom fields of all rows together are more than one write can hold. */
export function requireStorableSize(rows: UpsertRow[]): void {
  const names = new Set(rows.flatMap(({ change }) => Object.keys(change.custom_fields ?? {})));
  const externalIds = new Set(rows.flatMap(({ change }) => change.external_id ?? []));
  requireSize(names, 'the names of custom fields');
  requireSize(externalIds, 'the external ids');
}

function requireSize(texts: Set<string>, what: string): void {
  const bytes = Buffer.byteLength(JSON.stringify([...texts]));
  if (bytes <= maxBytes) return;
  const sentence = `Of all rows together, ${what} take ${bytes} bytes; at most ${maxBytes} in one request: send fewer contacts at a time`;
  throw invalidAt(['body', 'contacts'], sentence, 'too_large');
}
