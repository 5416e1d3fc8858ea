import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { slotsSchemaSteps } from '../../durable-objects/call-slots/schema.ts';
import { callSchemaSteps } from '../../durable-objects/call/schema.ts';
import { campaignSchemaSteps } from '../../durable-objects/campaign/schema.ts';
import { loadTestSchemaSteps } from '../../durable-objects/load-test/load-test-store.ts';
import { projectionSchema } from '../../durable-objects/shared/revision-table.ts';
import { sessionSchemaStep } from '../../durable-objects/test-session/session-store.ts';
import { changeSchemaStep } from '../../durable-objects/test-session/session-journal.ts';
import { sha256Hex } from '../../src/library/security/hash.ts';

/**
 * The steps that are in use, by the SHA-256 of their SQL without regard to white space. Objects have applied them, so steps are only
 * appended.
 */
const landed: Record<string, { steps: readonly string[]; hashes: string[] }> = {
  'call-slots': { steps: slotsSchemaSteps, hashes: ['21d68bb35339ae37', '8839de83711b12ad'] },
  call: {
    steps: callSchemaSteps,
    hashes: ['c17630ebe74496bc', '8a9ea06c3ed4867d', '305b9aef438c95ea', '6fc0e7dd5591ebd5'],
  },
  campaign: { steps: campaignSchemaSteps, hashes: ['2ba95cc696785fb3', '8fc358892c43b2a7', '0a5e4885ad5c2206', 'b66f9408d052302c'] },
  'load-test': { steps: loadTestSchemaSteps, hashes: ['0ae142b6bb6b82d3'] },
  'test-session': { steps: [sessionSchemaStep, changeSchemaStep], hashes: ['2dc053d4d9173362', 'f2e1b98e69600efe'] },
  shared: { steps: [projectionSchema], hashes: ['3090a20503a1fb08'] },
};

const hashOf = (sql: string): string =>
  sha256Hex(
    sql
      .replace(/\s+/g, ' ')
      .replace(/ ?([(),;]) ?/g, '$1')
      .trim(),
  ).slice(0, 16);

test.each(Object.entries(landed))('the released schema steps of %s are unchanged', (_name, { steps, hashes }) => {
  expect(steps.slice(0, hashes.length).map(hashOf)).toEqual(hashes);
  // Append the hash of a new step here.
  expect(steps).toHaveLength(hashes.length);
});

/** Objects whose tables have indexes have tests of the queries that use them: call-slots-rows.test.ts and object-laws.test.ts. */
const indexed = ['call-slots', 'campaign'];

test.each(Object.entries(landed).filter(([name]) => !indexed.includes(name)))('the tables of %s have no index', async (name, { steps }) => {
  const stub = env.CALL_SLOTS.getByName(`tables of ${name}`);
  const indexes = await runInDurableObject(stub, (_object, { storage: { sql } }) => {
    for (const step of steps) sql.exec(step);
    return sql
      .exec("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL OR name GLOB 'sqlite_autoindex_[^_]*'")
      .toArray();
  });
  expect(indexes).toEqual([]);
});

test('no object makes an index elsewhere', () => {
  const files = import.meta.glob<string>('../../durable-objects/**/*.ts', { query: '?raw', import: 'default', eager: true });
  const makers = Object.keys(files).filter((file) => /\bINDEX\b|\bUNIQUE\b/.test(files[file]!));
  expect(makers.map((file) => file.replace('../../durable-objects/', ''))).toEqual(indexed.map((name) => `${name}/schema.ts`));
});
