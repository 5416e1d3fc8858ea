import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { setSubscriptions } from '../../src/outbox/published-events.ts';
import { subscriptions } from '../../src/subscriptions.ts';

setSubscriptions(subscriptions);

await applyD1Migrations(env.DB, (env as unknown as { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] }).TEST_MIGRATIONS);
