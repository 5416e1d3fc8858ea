import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Migrations that have landed, by their SHA-256. Databases have taken them as they were; a change is a new migration. */
const landed = {
  '0000_initial.sql': '7d73efadb36ea0cd',
  '0001_contact_search.sql': '9556f1a2d2b9e422',
  '0002_contact_changes.sql': '19dc1e45d1f5d317',
  '0003_automation_counters.sql': '03adfb7a7a8841b5',
  '0004_journey_policies.sql': '732d86d77b2c7dd3',
  '0005_voice_agents_and_campaigns.sql': '89c0b93efb5e4e73',
  '0006_knowledge_base.sql': '11555e706f8d6890',
  '0007_conversation_tests.sql': '425ac5194ad473f2',
  '0008_messaging_and_integrations.sql': '156047d270bee8d9',
  '0009_where_vectors_are.sql': '6d19a1321e482524',
  '0010_failed_messages.sql': '4c2145ddf2a0911a',
};

test.each(Object.entries(landed))('the migration %s is as it landed', (name, hash) => {
  const file = readFileSync(`migrations/${name}`);
  expect(createHash('sha256').update(file).digest('hex').slice(0, 16)).toBe(hash);
});
