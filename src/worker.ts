import type { createApp } from './app.ts';
import { runInvocation } from './database/query-budget.ts';
import { setSubscriptions } from './outbox/published-events.ts';
import { requiredTestsGate } from './simtest/verification/verify-agent.ts';
import { subscriptions } from './subscriptions.ts';
import { setAgentChangeGate } from './voice-agents/agents/change-gate.ts';

export { AutomationRunObject } from '../durable-objects/automation-run/automation-run-object.ts';
export { CallObject } from '../durable-objects/call/call-object.ts';
export { CallSlotsObject } from '../durable-objects/call-slots/call-slots-object.ts';
export { LoadTestObject } from '../durable-objects/load-test/load-test-object.ts';
export { TestSessionObject } from '../durable-objects/test-session/test-session-object.ts';
export { VectorIndexObject } from '../durable-objects/vector-index/vector-index-object.ts';
export { CampaignObject } from '../durable-objects/campaign/campaign-object.ts';

setSubscriptions(subscriptions);
setAgentChangeGate(requiredTestsGate);

let app: ReturnType<typeof createApp> | undefined;

/** Keeps the app, not the promise of it: a promise belongs to the request that made it, and ends with it. */
async function loadApp(): Promise<ReturnType<typeof createApp>> {
  const { createApp: create } = await import('./app.ts');
  return (app ??= create());
}

// An isolate that serves objects alone evaluates neither routes nor consumers.
export default {
  fetch: (request, bindings, execution) => runInvocation(async () => (await loadApp()).fetch(request, bindings, execution)),
  queue: (batch, bindings, execution) =>
    runInvocation(async () => (await import('./queues/consume.ts')).consumeBatch(batch, bindings, execution)),
  scheduled: (controller, bindings, execution) =>
    runInvocation(async () => (await import('./cron/tick.ts')).tick(bindings, controller.scheduledTime, execution)),
} satisfies ExportedHandler<Env>;
