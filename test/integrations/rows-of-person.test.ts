import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRow } from '../../src/contacts/upsert/parse-input.ts';
import { planUpsert, type UpsertRow } from '../../src/contacts/upsert/resolve-existing.ts';
import { splitTags } from '../../src/integrations/sync/contact-text.ts';
import { toIncomingChange } from '../../src/integrations/sync/incoming-change.ts';
import type { MappedField } from '../../src/integrations/sync/mapped-fields.ts';
import { countMissing, foldRows, isFull, withNextRow, type PersonRows } from '../../src/integrations/sync/rows-of-person.ts';

const defaultCountry = 'US';
const names = ['external_id', 'phone', 'email', 'first_name', 'last_name', 'company', 'title', 'tags', 'custom_fields.city'];
const fields = names.map((field): MappedField => ({ field, external: field, direction: 'inbound' }));

const cell = (...texts: string[]) => fc.constantFrom('', ...texts);
/** A row of one person, without its empty cells. */
const row = fc
  .record({
    email: cell('a@example.org', 'b@example.org'),
    first_name: cell('Ada', 'Jürgen'),
    last_name: cell('Groß', 'Lovelace'),
    company: cell('Müller & Söhne'),
    title: cell('CEO'),
    tags: cell('a', 'b, c', 'a; c'),
    'custom_fields.city': cell('Köln', 'Lisbon'),
  })
  .map((values) => Object.fromEntries(Object.entries({ phone: '+12125550100', ...values }).filter(([, text]) => text !== '')));
const rows = fc.array(row, { minLength: 1, maxLength: 6 });

/** What bulk-upsert makes of the rows. */
function bulkUpserted(all: Record<string, string>[]) {
  const upserted = all.map(({ tags, 'custom_fields.city': city, ...texts }, index): UpsertRow => {
    const reading = parseRow(
      { ...texts, ...(tags && { tags: splitTags(tags) }), ...(city && { custom_fields: { city } }) },
      defaultCountry,
    );
    if (!('change' in reading)) throw new Error(reading.error.detail);
    return { index, change: reading.change };
  });
  return planUpsert(upserted, [], 1).people[0]!.values;
}

/** What a sync makes of the values of one record. */
function synchronized(values: Record<string, string>) {
  const reading = toIncomingChange({ record: { values, modifiedAt: null }, fields, seen: null, contact: null, defaultCountry });
  if (!('change' in reading)) throw new Error(reading.error.detail);
  return planUpsert([{ index: 0, change: reading.change }], [], 1).people[0]!.values;
}

const readAll = (before: PersonRows, all: Record<string, string>[]) => all.reduce(withNextRow, before);

describe('the rows of one person', () => {
  test('make the contact that bulk-upsert makes of them', () => {
    fc.assert(
      fc.property(rows, (all) => {
        expect(synchronized(foldRows(all))).toEqual(bulkUpserted(all));
      }),
    );
  });

  test('make the same wherever they are cut into pages', () => {
    fc.assert(
      fc.property(rows, fc.nat(), (all, at) => {
        const cut = at % all.length;
        const person = readAll(readAll({ rows: [], read: 0 }, all.slice(0, cut)), all.slice(cut));
        expect(foldRows(person.rows)).toEqual(foldRows(all));
      }),
    );
  });

  test('make at the end of a reading what a first reading of them makes, whatever was there before', () => {
    fc.assert(
      fc.property(rows, rows, (before, all) => {
        const person = readAll({ rows: before, read: 0 }, all);
        expect(countMissing(person)).toBe(Math.max(0, before.length - all.length));
        expect(foldRows(person.rows.slice(0, person.read))).toEqual(foldRows(all));
      }),
    );
  });

  test('that are as before make what they made, at each of them', () => {
    fc.assert(
      fc.property(rows, (all) => {
        let person: PersonRows = { rows: all, read: 0 };
        for (const one of all) {
          person = withNextRow(person, one);
          expect(foldRows(person.rows)).toEqual(foldRows(all));
        }
      }),
    );
  });

  test('are limited in number and size', () => {
    const small = { phone: '+12125550100' };
    expect([99, 100].map((read) => isFull({ rows: Array.from({ length: read }, () => small), read }))).toEqual([false, true]);
    const large = { company: 'x'.repeat(300_000) };
    expect([
      isFull({ rows: [large], read: 1 }),
      isFull({ rows: [large, large], read: 2 }),
      isFull({ rows: [large, large], read: 1 }),
    ]).toEqual([false, true, false]);
  });
});
