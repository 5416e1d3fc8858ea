import { expect, test } from 'vitest';
import { classifyPlatformError, platformErrorKind } from '../../src/library/platform/platform-errors.ts';

test('a call that D1 refused is distinguished from a call that D1 may have done', () => {
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
  expect(refused.map((message) => platformErrorKind(new Error(message)))).toEqual(refused.map(() => 'refused'));
  expect(lost.map((message) => platformErrorKind(new Error(message)))).toEqual(lost.map(() => 'lost'));
});

test('an error of the statement is no trouble of the platform', () => {
  for (const message of [
    'D1_ERROR: no such table: contact',
    'D1_ERROR: UNIQUE constraint failed: contact.phone',
    'D1_TYPE_ERROR: undefined',
  ])
    expect(platformErrorKind(new Error(message))).toBeNull();
  expect(platformErrorKind('thrown as text')).toBeNull();
});

test('faults of objects, files and queues are recognized by their errors, with their place', () => {
  const classified: [string, string, string][] = [
    ['Durable Object is overloaded. Too many requests for the same object within a 10 second window.', 'object', 'refused'],
    ['Cannot resolve Durable Object due to transient issue on remote node.', 'object', 'refused'],
    ['Durable Object storage operation exceeded timeout which caused object to be reset.', 'object', 'lost'],
    ['Durable Object reset because its code was updated.', 'object', 'lost'],
    ['get: We encountered an internal error. Please try again. (10001)', 'file_store', 'lost'],
    ['put: Reduce your concurrent request rate for the same object. (10058)', 'file_store', 'refused'],
    ['Queue sendBatch failed: Queue is overloaded. Please back off.', 'queue', 'refused'],
    ['Queue send failed: Too Many Requests', 'queue', 'refused'],
    ['Queue send failed: Internal Server Error', 'queue', 'lost'],
    ['Network connection lost.', 'platform', 'lost'],
    ['D1_ERROR: Network connection lost.', 'database', 'lost'],
    ['internal error; reference = 0123456789abcdef', 'platform', 'lost'],
  ];
  for (const [message, part, kind] of classified) expect(classifyPlatformError(new Error(message)), message).toMatchObject({ part, kind });
  for (const message of [
    'put: Your metadata headers exceed the maximum allowed metadata size. (10012)',
    'Queue send failed: Bad Request',
    'the object died',
  ])
    expect(platformErrorKind(new Error(message)), message).toBeNull();
});

test('what is shown of trouble quotes nothing of the request', () => {
  const error = new Error('It is unknown whether it was done: D1_ERROR: Network connection lost. INSERT INTO contact VALUES (secret)');
  expect(classifyPlatformError(error)).toEqual({ kind: 'lost', part: 'database', matchedText: 'Network connection lost' });
});
