import { runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { CallSlotsObject } from '../../durable-objects/call-slots/call-slots-object.ts';
import { answeredRun, callEnd, CarrierSocket, stubOutsideServices, waitForCompletedRun, waitUntilDestroyed } from '../support/calls.ts';
import { indexNames, watchStatements } from '../support/watch-statements.ts';

afterEach(() => vi.restoreAllMocks());

test('a call with two answers writes twenty rows and sets two or three alarms, and its tables have no index', async () => {
  vi.spyOn(CallSlotsObject.prototype, 'markFinalized').mockResolvedValue(undefined);
  stubOutsideServices();
  const { organizationId, runId, stub } = await answeredRun();
  const { watched, alarms } = await runInDurableObject(stub, (_object, { storage }) => ({
    watched: watchStatements(storage),
    alarms: vi.spyOn(storage, 'setAlarm'),
  }));
  await stub.begin(organizationId, runId, { callId: 'CA1' });
  const carrier = await CarrierSocket.open(stub, 'VX1');
  await carrier.waitForUtterances(1);
  carrier.say('Yes, I am interested');
  await carrier.waitForUtterances(2);
  carrier.say('Tuesday would be fine');
  await carrier.waitForUtterances(3);
  expect(await runInDurableObject(stub, (_object, { storage }) => indexNames(storage))).toEqual([]);
  await carrier.waitForEnd();
  await stub.callEnded(organizationId, runId, callEnd());
  await waitForCompletedRun(runId);
  await waitUntilDestroyed(stub);
  const written = watched.seen.filter(({ query }) => /^\s*(INSERT|UPDATE|DELETE)/.test(query));
  const rows = written.reduce((sum, { cursor }) => sum + cursor.rowsWritten, 0);
  console.log(`rows written by a call with two answers: ${rows}, alarms set: ${alarms.mock.calls.length}`);
  expect(rows).toBeGreaterThan(0);
  expect(rows).toBeLessThanOrEqual(20);
  expect(alarms.mock.calls.length).toBeLessThanOrEqual(3);
});
