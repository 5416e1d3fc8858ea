import { Validator, type Schema } from '@cfworker/json-schema';
import { expect, test } from 'vitest';
import {
  isTriggerType,
  parseTriggerConfig,
  triggerConfigs,
  triggerTypes,
  type TriggerType,
} from '../../src/automation-workflows/triggers/configs.ts';
import { describeTriggers } from '../../src/automation-workflows/triggers/descriptions.ts';
import { collectWarnings } from '../../src/library/json/config-object.ts';
import { internalEvents } from '../../src/automation-workflows/internal-events.ts';

const issues = (type: TriggerType, config: unknown) =>
  (parseTriggerConfig(type, config).issues ?? []).map(({ loc, msg }) => `${loc.slice(2).join('.')}: ${msg}`).join('\n');
const filter = { field: 'data.total', operator: 'gt', value: 100 };

const examples: Record<TriggerType, object> = {
  contact_event: { event_types: ['order_placed'], filter, entry_key: '{{ data.order_id }}' },
  webhook: {
    auth: { type: 'shopify', secret: 's' },
    mapping: { phone: ['phone', 'customer.phone'] },
    list_name: 'Shop',
    delivery_id: '$.id',
    filter,
  },
  schedule: { cron: '30 9 * * 1-5', timezone: 'America/New_York', audience: { list_id: 3 }, catch_up: 'once' },
  data_condition: { condition: filter, on: ['updated'] },
  event: { event: 'contact.created', filter },
  manual: { context_schema: { type: 'object' } },
};

test('there are six types, each described with a schema that its configs fit', () => {
  expect(describeTriggers().map(({ type }) => type)).toEqual(triggerTypes);
  for (const { type, config_schema } of describeTriggers()) {
    expect(issues(type, examples[type]), type).toBe('');
    expect(new Validator(structuredClone(config_schema) as Schema, '2020-12').validate(examples[type]).errors, type).toEqual([]);
  }
  expect(isTriggerType('webhook')).toBe(true);
  expect(isTriggerType('constructor')).toBe(false);
});

test('an unknown key in a config is kept and warned of', () => {
  for (const type of triggerTypes) {
    const config = { ...examples[type], no_such_key: 1 };
    expect(parseTriggerConfig(type, config).config, type).toMatchObject({ no_such_key: 1 });
    expect(collectWarnings(triggerConfigs[type], config, []), type).toEqual([
      { loc: ['no_such_key'], msg: expect.stringContaining('`no_such_key` is not known and has no effect') },
    ]);
  }
  const auth = { type: 'none', secret: 'x' };
  expect(parseTriggerConfig('webhook', { auth }).config).toMatchObject({ auth });
  expect(collectWarnings(triggerConfigs.webhook, { auth }, []).map(({ loc }) => loc.join('.'))).toEqual(['auth.secret']);
});

test('one event type may be written alone, and is answered as a list', () => {
  expect(parseTriggerConfig('contact_event', { event_type: 'a' }).config).toEqual({ event_types: ['a'] });
  expect(parseTriggerConfig('contact_event', { event_type: 'a', event_types: ['b', 'a'] }).config).toEqual({ event_types: ['b', 'a'] });
  expect(issues('contact_event', {})).toContain('event_types: Name at least one');
});

test('defaults are filled in', () => {
  expect(parseTriggerConfig('webhook', {}).config).toEqual({ auth: { type: 'none' }, mapping: {} });
  expect(parseTriggerConfig('webhook', { auth: { type: 'hmac_sha256', header: 'X-S', secret: 'k' } }).config).toMatchObject({
    auth: { encoding: 'hex' },
  });
  expect(parseTriggerConfig('webhook', { auth: { type: 'stripe', secret: 'k' } }).config).toMatchObject({
    auth: { header: 'Stripe-Signature' },
  });
  expect(parseTriggerConfig('schedule', { cron: '0 9 * * *' }).config).toEqual({ cron: '0 9 * * *', timezone: 'UTC', catch_up: 'skip' });
  expect(parseTriggerConfig('data_condition', { condition: filter }).config).toMatchObject({ on: ['created', 'updated'] });
  expect(parseTriggerConfig('manual', undefined).config).toEqual({});
});

test('a wrong value is refused by its field', () => {
  expect(issues('schedule', { cron: '99 * * * *' })).toMatch(/^cron: Cron field minute is "99"/);
  expect(issues('schedule', { cron: '0 9 * * *', timezone: 'Mars/Base' })).toMatch(/^timezone: Unknown time zone/);
  expect(issues('data_condition', { condition: { field: 'a', operator: 'like' } })).toContain(
    'condition.operator: Unknown operator "like"',
  );
  expect(issues('event', { event: 'call.started' })).toContain('event: ');
  expect(issues('contact_event', { event_types: ['a'], entry_key: '{{ x' })).toContain('entry_key: Template');
  expect(issues('webhook', { auth: { type: 'oauth' } })).toContain('auth');
  expect(issues('webhook', { auth: { type: 'hmac_sha256', header: 'X S', secret: 'k' } })).toContain('auth.header: Must be a header name');
  expect(issues('webhook', { auth: { type: 'standard_webhooks', secret: 'not base64!' } })).toContain('auth.secret: Must be base64');
  expect(issues('webhook', { mapping: { phone: 'a..b' } })).toMatch(/mapping\.phone/);
  expect(issues('webhook', { delivery_id: 'not a header' })).toContain('delivery_id: Must be a header name');
  expect(issues('manual', { context_schema: { type: 'objekt' } })).toContain('context_schema.type: Must be one of');
});

test('internal events are those of the contract', () => {
  expect(internalEvents).toHaveLength(8);
  for (const event of internalEvents) expect(issues('event', { event })).toBe('');
});
