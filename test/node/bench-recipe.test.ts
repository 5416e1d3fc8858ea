import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { toParameters, toRecipe, toVerbatimRecipe, type RecordedCall, type Value } from '../../bench/recipe.ts';

const from = 1_795_000_000_000;
const markers = {
  values: { phone: '+12125550199', event_id: 7_100_000_002, contact_id: 6_100_000_003, data: '{"total":129.5}' },
  from,
  to: from + 500,
};
const call = (...parameters: Value[]): RecordedCall => ({
  by: 'queue',
  isBatch: false,
  statements: [{ sql: 'SELECT 1', parameters }],
  rowsRead: 0,
  rowsWritten: 0,
});
const again = (parameters: Value[], values: Record<string, Value>, records: Record<string, Value>[] = []) =>
  toParameters(toRecipe(call(...parameters), markers).statements[0]!.parameters, values, records);

const others = { phone: '+13105550100', event_id: 42, contact_id: 17, data: '{}', now: 5 };

test('marked values and moments of the recording are filled in anew, with their types; the rest stays', () => {
  const recorded = ['+12125550199', 7_100_000_002, '{"total":129.5}', from + 20, 1, null, 'page_viewed', true];
  expect(again(recorded, others)).toEqual(['+13105550100', 42, '{}', 5, 1, null, 'page_viewed', true]);
});

test('a JSON list of one record becomes a list of all records', () => {
  const run = (event: number, contact: number) => ({ dedup_key: `event:${event}:trigger:3`, contact_id: contact, wake_at: 5 });
  const recorded = JSON.stringify([{ ...run(7_100_000_002, 6_100_000_003), wake_at: from + 7 }]);
  const records = [
    { event_id: 8, contact_id: 80 },
    { event_id: 9, contact_id: 90 },
  ];
  const [list, ids] = again([recorded, '[7100000002]'], { now: 5 }, records);
  expect(JSON.parse(list as string)).toEqual([run(8, 80), run(9, 90)]);
  expect(ids).toBe('[8,9]');
});

test('a key that the service made for one request is another in each replay, and the same within it', () => {
  const key = '0f8fad5b-d9cb-469f-a165-70867728950e';
  const replayed = (values: Record<string, Value>) => again([`request:${key}`, key], values) as string[];
  const [one, two] = [replayed({ now: 5 }), replayed({ now: 5 })];
  expect(one[0]).toBe(`request:${one[1]}`);
  expect(new Set([key, one[1], two[1]]).size).toBe(3);
});

test('what a recorded statement needs and the floor does not have is an error that names it', () => {
  expect(() => again(['+12125550199'], { now: 5 })).toThrow('needs "phone"');
});

test('a number that only contains a moment is not taken for one', () => {
  expect(again([`id-1${from}`, `at ${from}.`], others)).toEqual([`id-1${from}`, 'at 5.']);
});

const parameter = fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null), fc.json());

test('verbatim, every call is made again exactly as it was', () => {
  fc.assert(
    fc.property(fc.array(parameter), (parameters) => {
      expect(toParameters(toVerbatimRecipe(call(...parameters)).statements[0]!.parameters, {}, [])).toEqual(parameters);
    }),
  );
});

test('filled in with the values that it was recorded with, every call is as it was', () => {
  const text = fc
    .array(fc.oneof(fc.string(), fc.constantFrom(...Object.values(markers.values).map(String))))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(fc.oneof(parameter, text)), (parameters) => {
      const lists = parameters.map((one) => (typeof one === 'string' ? `["${one.replaceAll(/["\\\p{Cc}]/gu, '')}"]` : one));
      for (const recorded of [parameters, lists])
        expect(again(recorded, { ...markers.values, now: from }, [markers.values])).toEqual(recorded);
    }),
  );
});
