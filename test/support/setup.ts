import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { anchorShard } from '../../src/database/shard-anchors.ts';
import { shardBindings, shards } from '../../src/database/shards.ts';
import { loadLazyModules } from '../../src/library/lazy-module.ts';
import { setSubscriptions } from '../../src/outbox/published-events.ts';
import { requiredTestsGate } from '../../src/simtest/verification/verify-agent.ts';
import { setAgentChangeGate } from '../../src/voice-agents/agents/change-gate.ts';
import { subscriptions } from '../../src/subscriptions.ts';
import { realFetch } from './real-fetch.ts';

// Before any test: Vite fetches a module for the request or object that imports it first, and no other may wait for that.
await import('../../src/worker.ts');
await loadLazyModules();

globalThis.fetch = realFetch;
setSubscriptions(subscriptions);
setAgentChangeGate(requiredTestsGate);

const migrations = (env as unknown as { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] }).TEST_MIGRATIONS;
for (const [shard, { binding }] of shardBindings(env).entries()) {
  await applyD1Migrations(binding, migrations);
  await anchorShard(shards(env)[shard]!, shard);
}
