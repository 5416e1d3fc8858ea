import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { setSubscriptions } from '../../src/outbox/published-events.ts';
import { requiredTestsGate } from '../../src/simtest/verification/verify-agent.ts';
import { setAgentChangeGate } from '../../src/voice-agents/agents/change-gate.ts';
import { subscriptions } from '../../src/subscriptions.ts';
import { realFetch } from './real-fetch.ts';

globalThis.fetch = realFetch;
setSubscriptions(subscriptions);
setAgentChangeGate(requiredTestsGate);

await applyD1Migrations(env.DB, (env as unknown as { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] }).TEST_MIGRATIONS);
