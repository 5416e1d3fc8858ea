import { runInvocation } from './database/query-budget.ts';
import { lazyModule } from './library/lazy-module.ts';
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
export { WebhookEndpointObject } from '../durable-objects/webhook-endpoint/webhook-endpoint-object.ts';
export { CampaignObject } from '../durable-objects/campaign/campaign-object.ts';

setSubscriptions(subscriptions);
setAgentChangeGate(requiredTestsGate);

// An isolate that serves objects alone evaluates neither routes nor consumers.
const app = lazyModule(async () => (await import('./app.ts')).createApp());
const queues = lazyModule(() => import('./queues/consume.ts'));
const cron = lazyModule(() => import('./cron/tick.ts'));

export default {
  fetch: (request, bindings, execution) => runInvocation(async () => (await app()).fetch(request, bindings, execution)),
  queue: (batch, bindings, execution) => runInvocation(async () => (await queues()).consumeBatch(batch, bindings, execution)),
  scheduled: (controller, bindings, execution) =>
    runInvocation(async () => (await cron()).tick(bindings, controller.scheduledTime, execution)),
} satisfies ExportedHandler<Env>;
