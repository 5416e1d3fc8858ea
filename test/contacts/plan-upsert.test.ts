import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyChange, findChangedFields } from '../../src/contacts/contacts/apply-change.ts';
import { emptyContactValues, type Contact, type ContactChange } from '../../src/contacts/contacts/contact.ts';
import { mustRelease, planUpsert, type UpsertRow } from '../../src/contacts/upsert/resolve-existing.ts';

const stored = (id: number, values: Partial<Contact>): Contact => ({
  ...emptyContactValues,
  organization_id: 1,
  created_at: 1,
  updated_at: 1,
  revision: 1,
  ...values,
  id,
});
const rowsOf = (changes: ContactChange[]): UpsertRow[] => changes.map((change, index) => ({ index, change }));

const key = (letter: string) => fc.constantFrom(undefined, null, `${letter}1`, `${letter}2`, `${letter}3`);
const fields = fc.record(
  {
    first_name: fc.constantFrom(null, 'Ada', 'Eve'),
    add_tags: fc.subarray(['a', 'b', 'c']),
    custom_fields: fc.dictionary(fc.constantFrom('k1', 'k2', 'k3'), fc.constantFrom(null, 1, 'x')),
  },
  { requiredKeys: [] },
);
type Keys = Pick<ContactChange, 'phone' | 'external_id'>;
const changeOf = (keys: Keys, more: ContactChange): ContactChange => ({
  ...Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined)),
  ...more,
});
const change = fc
  .tuple(key('p'), key('e'), fields)
  .filter(([phone, external_id]) => Boolean(phone || external_id))
  .map(([phone, external_id, more]) => changeOf({ phone, external_id }, more));

/** Stored contacts without a common key. */
const known = fc
  .uniqueArray(fc.constantFrom(1, 2, 3), { maxLength: 3 })
  .chain((digits) =>
    fc.tuple(
      ...digits.map((digit) =>
        fc.constantFrom<Partial<Contact>>(
          { phone: `p${digit}` },
          { external_id: `e${digit}` },
          { phone: `p${digit}`, external_id: `e${digit}` },
        ),
      ),
    ),
  )
  .map((contacts) => contacts.map((values, index) => stored(index + 1, values)));

test('every row is part of one person or one failure, and no person occurs twice', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), known, fc.nat(4), (changes, contacts, capacity) => {
      const { people, failures } = planUpsert(rowsOf(changes), contacts, capacity);
      const indexes = [...people.flatMap((person) => person.rows.map((row) => row.index)), ...failures.map((failure) => failure.index)];
      expect(indexes.toSorted((a, b) => a - b)).toEqual(changes.map((_, index) => index));
      expect(people.filter((person) => !person.known).length).toBeLessThanOrEqual(capacity);
      const ids = people.flatMap((person) => person.known?.id ?? []);
      expect(new Set(ids).size).toBe(ids.length);
    }),
  );
});

test('the contacts that result never share a phone or an external id', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), known, (changes, contacts) => {
      const { people } = planUpsert(rowsOf(changes), contacts, 100);
      const touched = new Set(people.map((person) => person.known?.id));
      const all = [...people.map((person) => person.values), ...contacts.filter((contact) => !touched.has(contact.id))];
      for (const field of ['phone', 'external_id'] as const) {
        const taken = all.flatMap((values) => values[field] ?? []);
        expect(new Set(taken).size).toBe(taken.length);
      }
    }),
  );
});

test('a key that another person of the plan gets is released first', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), known, (changes, contacts) => {
      const { people } = planUpsert(rowsOf(changes), contacts, 100);
      const letGo = new Set(mustRelease(people));
      for (const field of ['phone', 'external_id'] as const)
        for (const person of people)
          for (const other of people)
            if (person !== other && person.known && person.known[field] !== null && person.known[field] === other.values[field])
              expect(letGo.has(person)).toBe(true);
    }),
  );
});

test('folding an import twice changes nothing', () => {
  // Each person keeps its own phone and external id throughout the import; rows name one of them or both.
  const row = fc
    .tuple(fc.constantFrom(1, 2, 3, 4), fc.constantFrom('phone', 'external_id', 'both'), fields)
    .map(([digit, which, more]) =>
      changeOf(
        { phone: which === 'external_id' ? undefined : `p${digit}`, external_id: which === 'phone' ? undefined : `e${digit}` },
        more,
      ),
    );
  fc.assert(
    fc.property(fc.array(row, { maxLength: 15 }), known, (changes, contacts) => {
      const first = planUpsert(rowsOf(changes), contacts, 100);
      const touched = new Set(first.people.map((person) => person.known?.id));
      const after = [
        ...contacts.filter((contact) => !touched.has(contact.id)),
        ...first.people.map((person, index) => stored(person.known?.id ?? 100 + index, person.values)),
      ];
      const second = planUpsert(rowsOf(changes), after, 0);
      expect(second.people.filter((person) => person.isChanged || !person.known)).toEqual([]);
      expect(second.failures.map((failure) => failure.index)).toEqual(first.failures.map((failure) => failure.index));
    }),
  );
});

test('a change applied twice is the change applied once, and touches only what it names', () => {
  fc.assert(
    fc.property(change, fields, (first, earlier) => {
      const before = applyChange(emptyContactValues, earlier);
      const once = applyChange(before, first);
      expect(findChangedFields(once, applyChange(once, first))).toEqual([]);
      for (const field of findChangedFields(before, once))
        expect([field, field === 'tags' ? 'add_tags' : field].some((name) => name in first)).toBe(true);
    }),
  );
});

test('tags are added before others are removed, and replaced when they are given whole', () => {
  const before = { ...emptyContactValues, tags: ['a', 'b'] };
  expect(applyChange(before, { add_tags: ['c', 'a'], remove_tags: ['b', 'c'] }).tags).toEqual(['a']);
  expect(applyChange(before, { tags: ['x', 'x'] }).tags).toEqual(['x']);
  expect(applyChange(before, { tags: [] }).tags).toEqual([]);
});

test('custom fields merge shallowly: a nested value is replaced whole, null removes, null in place of all clears', () => {
  const before = { ...emptyContactValues, custom_fields: { a: { x: 1, y: 2 }, b: 1, c: 0 } };
  expect(applyChange(before, { custom_fields: { a: { z: 3 }, b: null, c: false } }).custom_fields).toEqual({ a: { z: 3 }, c: false });
  expect(applyChange(before, { custom_fields: null }).custom_fields).toEqual({});
});

test('values of rows that are too many fail row by row and leave the person as it was', () => {
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`k${n}`, n]));
  const others = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`o${n}`, n]));
  const { people, failures } = planUpsert(
    rowsOf([
      { phone: 'p1', custom_fields: many },
      { phone: 'p1', custom_fields: others },
      { phone: 'p1', title: 'Dr' },
    ]),
    [],
    1,
  );
  expect(failures).toMatchObject([{ index: 1, code: 'too_many_custom_fields', field: 'custom_fields' }]);
  expect(people).toHaveLength(1);
  expect(people[0]!.values).toMatchObject({ custom_fields: many, title: 'Dr' });
});
