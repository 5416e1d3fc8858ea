import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyChange, findChangedFields } from '../../src/contacts/contacts/apply-change.ts';
import { emptyContactValues, type Contact } from '../../src/contacts/contacts/contact.ts';
import { packIds, unpackIds } from '../../src/integrations/sync/pack-ids.ts';
import { toStoredText, toIncomingChange } from '../../src/integrations/sync/incoming-change.ts';
import { contactText } from '../../src/integrations/sync/contact-text.ts';
import type { MappedField } from '../../src/integrations/sync/mapped-fields.ts';
import { toOutgoingFields } from '../../src/integrations/sync/push/outgoing-fields.ts';
import {
  restartProgress,
  newProgress,
  progressFromCheckpoint,
  toCheckpoint,
  type SyncProgress,
} from '../../src/integrations/sync/progress.ts';

const defaultCountry = 'US';

describe('contact ids', () => {
  test('come back as they were packed, in whatever order and however large', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 2 ** 43 }))), (ids) => {
        expect(unpackIds(packIds(ids))).toEqual(new Set(ids.toSorted((one, other) => one - other)));
      }),
    );
  });

  test('of neighbours take little more than a byte each', () => {
    expect(packIds(Array.from({ length: 10_000 }, (_, index) => 7_000_000 + index)).length).toBeLessThan(13_500);
  });
});

/** A contact here and its record there, with clocks that go on by one at each step. */
class Pair {
  readonly fields: MappedField[];
  contact: Contact;
  remote: Record<string, string>;
  modifiedAt = 0;
  seen: Record<string, string> = {};
  now = 1;

  constructor(fields: MappedField[], local: Partial<Contact>, remote: Record<string, string>) {
    this.fields = fields;
    this.contact = {
      ...emptyContactValues,
      ...local,
      external_id: 'x',
      id: 1,
      organization_id: 1,
      created_at: 0,
      updated_at: 0,
      revision: 1,
    };
    this.remote = remote;
  }

  editRemote(external: string, value: string): void {
    if ((this.remote[external] ?? '') === value) return;
    this.remote = { ...this.remote, [external]: value };
    this.modifiedAt = ++this.now;
  }

  editLocal(change: Parameters<typeof applyChange>[1]): void {
    const after = applyChange(this.contact, change);
    if (findChangedFields(this.contact, after).length > 0) this.contact = { ...after, updated_at: ++this.now };
  }

  /** Answers whether it has changed the contact. */
  sync(): boolean {
    const fields = this.fields.filter(({ direction }) => direction !== 'outbound');
    const values = Object.fromEntries(fields.map(({ field, external }) => [field, this.remote[external] ?? '']));
    const record = { values, modifiedAt: this.modifiedAt };
    const reading = toIncomingChange({ record, fields, seen: this.seen, contact: this.contact, defaultCountry });
    if (!('change' in reading)) throw new Error(reading.error.detail);
    const after = applyChange(this.contact, reading.change);
    const isChanged = findChangedFields(this.contact, after).length > 0;
    if (isChanged) this.contact = { ...after, updated_at: ++this.now };
    this.seen = { ...this.seen, ...values };
    return isChanged;
  }

  push(): void {
    const fields = this.fields.filter(({ direction }) => direction !== 'inbound');
    const { send, pushed } = toOutgoingFields({ contact: this.contact, fields, seen: this.seen, remote: this.remote, defaultCountry });
    if (Object.keys(send).length > 0) this.modifiedAt = ++this.now;
    this.remote = { ...this.remote, ...send };
    this.seen = { ...this.seen, ...Object.fromEntries(pushed.map(({ field, external }) => [field, this.remote[external] ?? ''])) };
  }
}

const mapped: MappedField[] = [
  { field: 'company', external: 'company_name', direction: 'bidirectional' },
  { field: 'phone', external: 'phone', direction: 'bidirectional' },
  { field: 'first_name', external: 'first_name', direction: 'inbound' },
  { field: 'title', external: 'cf_title', direction: 'outbound' },
  { field: 'custom_fields.tier', external: 'cf_tier', direction: 'bidirectional' },
];

const text = fc.constantFrom('', 'one', 'two', 'three');
const phone = fc.constantFrom('+12125550100', '(212) 555-0101', '212.555.0102');
const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('remote' as const),
      external: fc.constantFrom('company_name', 'first_name', 'cf_title', 'cf_tier'),
      value: text,
    }),
    fc.record({ kind: fc.constant('remote' as const), external: fc.constant('phone'), value: phone }),
    fc.record({
      kind: fc.constant('local' as const),
      change: fc.record({ company: text, first_name: text, title: text }, { requiredKeys: [] }),
    }),
    fc.record({
      kind: fc.constant('local' as const),
      change: fc.record({ phone: fc.constantFrom('+12125550100', '+12125550101', '+12125550199') }),
    }),
    fc.record({
      kind: fc.constant('local' as const),
      change: fc.record({ custom_fields: fc.record({ tier: fc.constantFrom('gold', 'iron', null) }) }),
    }),
    fc.record({ kind: fc.constant('sync' as const) }),
    fc.record({ kind: fc.constant('push' as const) }),
  ),
);

function play(pair: Pair, taken: typeof steps extends fc.Arbitrary<infer Steps> ? Steps : never): void {
  for (const step of taken) {
    if (step.kind === 'remote') pair.editRemote(step.external, step.value);
    else if (step.kind === 'local')
      pair.editLocal(Object.fromEntries(Object.entries(step.change).map(([field, value]) => [field, value === '' ? null : value])));
    else if (step.kind === 'sync') pair.sync();
    else pair.push();
  }
}

const newPair = () =>
  new Pair(mapped, { company: 'ours', phone: '+12125550100' }, { company_name: 'theirs', phone: '212-555-0100', first_name: 'Ada' });
const remoteOf = (pair: Pair, { field, external }: MappedField) => toStoredText(field, pair.remote[external] ?? '', defaultCountry);

describe('a contact and its record, whatever both sides change in between', () => {
  test('agree on every bidirectional field after a sync and a push', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const pair = newPair();
        play(pair, taken);
        pair.sync();
        pair.push();
        for (const field of mapped.filter(({ direction }) => direction === 'bidirectional'))
          expect([field.field, contactText(pair.contact, field.field)]).toEqual([field.field, remoteOf(pair, field)]);
      }),
    );
  });

  test('do not change by a sync after a sync or a push: nothing comes back', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const pair = newPair();
        play(pair, taken);
        pair.sync();
        expect(pair.sync()).toBe(false);
        pair.push();
        expect(pair.sync()).toBe(false);
      }),
    );
  });

  test('keep what only one side has changed', () => {
    fc.assert(
      fc.property(steps, text, text, (taken, theirs, ours) => {
        const pair = newPair();
        play(pair, taken);
        pair.sync();
        pair.push();
        pair.editRemote('company_name', theirs);
        pair.editLocal({ custom_fields: { tier: ours || null } });
        pair.sync();
        pair.push();
        expect([contactText(pair.contact, 'company'), pair.remote['company_name'] ?? '']).toEqual([theirs, theirs]);
        expect([contactText(pair.contact, 'custom_fields.tier'), pair.remote['cf_tier'] ?? '']).toEqual([ours, ours]);
      }),
    );
  });

  test('leave outbound fields to us and inbound ones to them', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const pair = newPair();
        play(pair, taken);
        const { title } = pair.contact;
        pair.sync();
        expect(pair.contact.title).toBe(title);
        const firstName = pair.remote['first_name'];
        pair.push();
        expect(pair.remote['first_name']).toBe(firstName);
      }),
    );
  });
});

test('tags that did not come from the record stay', () => {
  const fields: MappedField[] = [{ field: 'tags', external: 'Tags', direction: 'inbound' }];
  const contact = { ...newPair().contact, tags: ['own', 'lead', 'cold'] };
  const record = { values: { tags: 'lead; warm' }, modifiedAt: null };
  const reading = toIncomingChange({ record, fields, seen: { tags: 'lead, cold' }, contact, defaultCountry });
  expect('change' in reading && applyChange(contact, reading.change).tags).toEqual(['own', 'lead', 'warm']);
});

test('a value that no contact accepts is reported with its field', () => {
  const fields: MappedField[] = [{ field: 'company', external: 'Company', direction: 'inbound' }];
  const record = { values: { company: 'x'.repeat(301) }, modifiedAt: null };
  expect(toIncomingChange({ record, fields, seen: null, contact: null, defaultCountry })).toEqual({
    error: { field: 'company', code: 'invalid_company', detail: 'company: Must have 300 characters or fewer' },
  });
});

describe('a reading', () => {
  const integration = {
    provider: 'sheet' as const,
    providerData: { sheet_url: 'u', sheet_name: 't', contact_list_name: 'l' },
    connectionParams: {},
    fieldMapping: { phone: 'P' },
  };
  const nothingEarlier = { last: null, lastFull: null };
  const begin = () => newProgress(integration, nothingEarlier, { wantsEverything: false, now: 1_000 });
  const stored = ({ changedSince, errors, tally, ...reading }: SyncProgress) => ({
    ...tally,
    changedSince,
    errors,
    checkpoint: JSON.parse(JSON.stringify(toCheckpoint({ changedSince, errors, tally, ...reading }))),
  });

  test('goes on where it was stored', () => {
    const reading: SyncProgress = {
      ...begin(),
      place: { row: 502, rows: 1_000, above: 'x' },
      present: new Set([3, 5_000]),
      tally: { rowsSeen: 9, created: 1, updated: 2, unchanged: 5, failed: 1 },
      errors: [{ row: 4, detail: 'no_key', message: 'x' }],
    };
    expect(progressFromCheckpoint(stored(reading), reading.source)).toEqual(reading);
  });

  test('is not gone on with when something else is to be read by now', () => {
    const other = newProgress({ ...integration, fieldMapping: { phone: 'Q' } }, nothingEarlier, { wantsEverything: false, now: 1_000 });
    expect(progressFromCheckpoint(stored(begin()), other.source)).toBeNull();
  });

  test('whose rows are moved again and again is no longer one that shows who has gone', () => {
    let reading = begin();
    for (let restart = 1; restart <= 3; restart++) reading = restartProgress(reading, 1_000 + restart);
    expect([restartProgress(begin(), 2_000).present, reading.present]).toEqual([new Set(), null]);
  });
});
