import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { validateGraph } from '../../src/automation-workflows/definitions/definition.ts';
import { nodeTypes } from '../../src/automation-workflows/nodes/registry.ts';
import { WorkflowSettings } from '../../src/automation-workflows/definitions/settings.ts';
import { parseTriggerConfig } from '../../src/automation-workflows/triggers/configs.ts';
import { applyMapping } from '../../src/automation-workflows/triggers/webhooks/mapping.ts';
import { verifySignature } from '../../src/automation-workflows/triggers/webhooks/signatures.ts';
import type { WebhookMapping } from '../../src/automation-workflows/triggers/webhooks/config.ts';
import { readContacts } from '../../src/contacts/import/read-contacts.ts';
import { readTable } from '../../src/library/delimited-text/read-table.ts';
import { EventBody } from '../../src/events/schemas.ts';
import { parseJson } from '../../src/library/json/json.ts';
import { readAgent } from '../../scripts/tour/agents.ts';
import { describeCounts, findRowProblems, type CampaignRow } from '../../scripts/tour/campaign-rows.ts';
import { readExample } from '../../scripts/tour/examples.ts';
import { shopifyHeaders } from '../../scripts/tour/shopify-signature.ts';
import { sourceOf } from '../campaigns/source-reading.ts';

describe('the examples', () => {
  interface Journey {
    trigger: { type: 'contact_event'; config: { event_types: string[] } };
    settings: object;
    definition: object;
  }
  const journey = JSON.parse(readExample('journey.json')) as Journey;
  const eventFiles = ['large-order', 'small-order', 'order-of-a-stranger'].map((name) => `events/${name}.json`);

  test('the journey can go active as it stands', () => {
    expect(validateGraph(journey.definition, nodeTypes)).toEqual([]);
    expect(parseTriggerConfig('contact_event', journey.trigger.config).issues).toBeUndefined();
    expect(() => WorkflowSettings.parse(journey.settings)).not.toThrow();
  });

  test.each(eventFiles)('%s is an event that the journey listens to, with an id beyond 2^53', (file) => {
    const event = EventBody.parse(parseJson(readExample(file)));
    expect(journey.trigger.config.event_types).toContain(event.event_type);
    expect(event.data?.order_id).toMatch(/^60123456789\d{8}$/);
  });

  test('the webhook brings the contact of the import and the variables of the journey, ids unharmed', () => {
    const body = parseJson(readExample('webhooks/shopify-orders-create.json'));
    const { config } = JSON.parse(readExample('webhooks/shopify-trigger.json')) as { config: { mapping: WebhookMapping } };
    expect(parseTriggerConfig('webhook', config).issues).toBeUndefined();
    expect(applyMapping(config.mapping, body)).toMatchObject({
      contact: { phone: '+12125550110', external_id: '7012345678901234567', first_name: 'Nina', last_name: 'Okafor' },
      variables: { order_id: '6012345678901234567', total: '120.50', currency: 'USD' },
    });
  });

  test('the people of the CSV are read with ids unharmed, and the one without phone is reported', async () => {
    const rows = [];
    for await (const row of readContacts(await readTable(readExample('contacts.csv')), 'US').rows) rows.push(row);
    const people = rows.flatMap((row) => ('contact' in row ? [row.contact] : []));
    expect(people.map(({ phone }) => phone)).toEqual(['+12125550110', '+12125550111', '+493023125012', '+33199001234', '+12125550110']);
    expect(people[0]?.external_id).toBe('7012345678901234567');
    expect(rows.flatMap((row) => ('refused' in row ? [row.file_row] : []))).toEqual([7]);
  });
});

describe('the campaign', () => {
  const rowsOfFile = async () => (await sourceOf(readExample('campaign.csv'))).rows;
  const row = (more: Partial<CampaignRow>): CampaignRow => ({
    row_number: 1,
    phone: '+12125501101',
    state: 'completed',
    outcome: 'completed',
    reason: null,
    attempts: 1,
    run_ids: [1],
    variables: {},
    ...more,
  });

  test('its file has whom to call, a second row of one person, one without number, and the variables of the agent', async () => {
    const rows = await rowsOfFile();
    expect(rows.map(({ state }) => state).join(' ')).toMatch(/^(pending ){8}skipped failed pending$/);
    expect(rows[8]!.reason).toBe('duplicate: row 1 has the same number');
    expect(rows[0]).toMatchObject({ phone: '+12125501101', variables: { first_name: 'Ada', product: 'heat pumps' } });
    const { template_context_variables: defaults } = readAgent('spring-offer');
    expect(Object.keys(rows[0]!.variables)).toEqual(Object.keys(defaults));
  });

  test('rows that end as the file means are no problem, any other is reported', async () => {
    const rows = (await rowsOfFile()).map(({ row_number }) => row({ row_number }));
    expect(findRowProblems(rows.slice(0, 3))).toEqual(['the campaign has 3 rows instead of 11']);
    expect(findRowProblems(rows)).toHaveLength(7);
    expect(findRowProblems(rows)[0]).toBe('row 5 (+12125501101) is completed (completed) instead of failed (^busy$)');
  });

  test('its progress reads as a sentence', () => {
    expect(describeCounts({ pending: 0, in_call: 2, completed: 3 })).toBe('2 in call, 3 completed of 5 rows');
    expect(describeCounts({})).toBe('nothing yet of 0 rows');
  });
});

test('the service accepts what is signed as Shopify signs, and nothing else', async () => {
  const body = readExample('webhooks/shopify-orders-create.json');
  const headers = shopifyHeaders('s3cret', body, 'delivery-1');
  expect(headers['x-shopify-hmac-sha256']).toBe(createHmac('sha256', 's3cret').update(Buffer.from(body)).digest('base64'));
  const check = (secret: string, text: string) =>
    verifySignature({ type: 'shopify', secret }, new Headers(headers), new TextEncoder().encode(text), Date.now());
  expect(await check('s3cret', body)).toEqual({ ok: true });
  expect((await check('other', body)).ok).toBe(false);
  expect((await check('s3cret', `${body} `)).ok).toBe(false);
});
