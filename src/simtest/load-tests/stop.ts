import { randomUUID } from 'node:crypto';
import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { conflict } from '../../library/errors.ts';
import { existingLoadTest } from './existing-load-test.ts';
import { callLoadTestObject } from './load-test-stub.ts';
import { readLoadTest } from './read.ts';
import type { LoadTestStatisticsRecord } from '../schemas.ts';

/** Ends all sessions of a load test that is running. Throws 409 in any other state, naming it. */
export async function stopLoadTest(context: Context, id: number): Promise<z.infer<typeof LoadTestStatisticsRecord>> {
  const { bindings, organization } = context;
  const { status } = await existingLoadTest(context, id);
  if (status !== 'running') throw conflict(`The load test is ${status}; only a running one can be stopped`);
  const act = randomUUID();
  await callLoadTestObject(bindings, organization.id, id, async (object) => {
    // Its start may have broken off before its object was there.
    await object.begin(organization.id, id);
    return object.stop(act);
  });
  return readLoadTest(context, id);
}
