import { expect, test } from 'vitest';
import { troubleOf } from '../../src/database/trouble.ts';

test('what D1 refused before it began is told from what it may have done', () => {
  const refused = [
    'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
    'D1_ERROR: D1 DB is overloaded. Too many requests queued.',
    'D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.',
    'D1_ERROR: Internal error while starting up D1 DB storage caused object to be reset.',
  ];
  const lost = [
    'D1_ERROR: Network connection lost.',
    'D1_ERROR: D1 DB reset because its code was updated.',
    'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.',
    'D1_ERROR: D1 DB exceeded its CPU time limit and was reset.',
    "D1_ERROR: D1 DB's isolate exceeded its memory limit and was reset.",
    'D1_ERROR: Internal error in D1 DB storage caused object to be reset.',
    "D1_ERROR: Can't read from request stream because client disconnected.",
  ];
  expect(refused.map((message) => troubleOf(new Error(message)))).toEqual(refused.map(() => 'refused'));
  expect(lost.map((message) => troubleOf(new Error(message)))).toEqual(lost.map(() => 'lost'));
});

test('an error of the statement is no trouble of the platform', () => {
  for (const message of [
    'D1_ERROR: no such table: contact',
    'D1_ERROR: UNIQUE constraint failed: contact.phone',
    'D1_TYPE_ERROR: undefined',
  ])
    expect(troubleOf(new Error(message))).toBeNull();
  expect(troubleOf('thrown as text')).toBeNull();
});
