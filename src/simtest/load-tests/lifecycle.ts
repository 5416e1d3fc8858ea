import type { z } from '@hono/zod-openapi';
import { randomUUID } from 'node:crypto';
import type { Context } from '../../context.ts';
import { requireActive } from '../../voice-agents/agents/find-agents.ts';
import { configWarnings } from '../config/config.ts';
import { requireValidPairing } from '../config/pairing.ts';
import type { LoadTestStatisticsRecord, NewLoadTestInput, StartedLoadTest } from '../schemas.ts';
import { conflict } from '../../library/errors.ts';
import { callLoadTestObject } from './rpc.ts';
import { existingLoadTest, insertLoadTest } from './store.ts';
import { readLoadTest } from './read.ts';

/**
 * Creates and starts a load test with its sessions. Throws 404 for an unknown agent, 409 for an archived one, 422 for an agent that is not sound
 * and for a config with unknown names.
 */
export async function createLoadTest(context: Context, input: NewLoadTestInput): Promise<z.infer<typeof StartedLoadTest>> {
  const { bindings, database, organization, clock, log } = context;
  const { actor, adversary } = await requireValidPairing(context, input);
  requireActive(actor);
  requireActive(adversary);
  const { name, test_count, concurrency, ramp_seconds, config } = input;
  const load = { name, actor_agent_id: actor.id, adversary_agent_id: adversary.id, test_count, concurrency, ramp_seconds, config };
  const { id, sessionIds } = await insertLoadTest(database, organization.id, load, clock());
  // The load test is stored: when its object cannot be reached, the minute tick starts it.
  await callLoadTestObject(bindings, organization.id, id, (object) => object.begin(organization.id, id)).catch((error: unknown) =>
    log.error('a load test could not begin at once', error, { load_test_id: id }),
  );
  return {
    load_test_group_id: id,
    test_session_ids: sessionIds,
    total: sessionIds.length,
    status: 'running',
    warnings: configWarnings(config),
  };
}

/** Stops all sessions of a running load test. Throws 404, and 409 in any other state. */
export async function stopLoadTest(context: Context, id: number): Promise<z.infer<typeof LoadTestStatisticsRecord>> {
  const { bindings, organization } = context;
  const { status } = await existingLoadTest(context, id);
  if (status !== 'running') throw conflict(`The load test is ${status}; only a running one can be stopped`);
  const act = randomUUID();
  await callLoadTestObject(bindings, organization.id, id, async (object) => {
    // A start that broke off has left no object.
    await object.begin(organization.id, id);
    return object.stop(act);
  });
  return readLoadTest(context, id);
}
