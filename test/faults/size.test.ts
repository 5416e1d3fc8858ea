import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { newOrganization } from '../support/organization.ts';

test('how much a stored event and its run take in D1', async () => {
  const { id } = await newOrganization();
  const count = 20_000;
  const size = async () => (await env.DB.prepare('SELECT 1').run()).meta.size_after as number;
  const before = await size();
  const data = JSON.stringify({
    order_id: 'A-10000',
    total: 129.9,
    currency: 'EUR',
    items: [{ sku: 'K-200', name: 'Kettle, steel', quantity: 1 }],
    name: 'Ada Lovelace',
    source: 'shop',
  });
  await env.DB.prepare(
    `INSERT INTO event (organization_id, event_type, phone, contact_id, data, sender_id, created_at, handled_at)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
     SELECT ?2, 'order_placed', '+1212' || (5000000 + i), 1000000 + i, ?3, 'sender:order-' || i || '-7f3a', 1790000000000 + i, 1790000000100 + i FROM n`,
  )
    .bind(count, id, data)
    .run();
  const events = await size();
  await env.DB.prepare(
    `INSERT INTO automation_run (organization_id, workflow_id, workflow_version, trigger_id, contact_id, state, outcome, current_node_id, dedup_key, entry_key, source, source_id, context_changes, revision, started_at, completed_at, created_at)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
     SELECT ?2, 77, 3, 99, 1000000 + i, 'completed', 'done', 'out', 'event:' || (3000000 + i) || ':trigger:99', 'contact:' || (1000000 + i), 'event', 3000000 + i,
       '{"assigned":{},"outputs":{"call":{"status":200,"headers":{"content-type":"application/json"},"body":{"ok":true,"id":"abc-123"}},"say":{"event_id":1234567}}}', 4, 1790000000200 + i, 1790000001200 + i, 1790000000150 + i FROM n`,
  )
    .bind(count, id)
    .run();
  const runs = await size();
  console.log({ bytesAnEvent: (events - before) / count, bytesARun: (runs - events) / count, dataBytes: data.length });
  expect(before).toBeGreaterThan(0);
}, 60_000);
