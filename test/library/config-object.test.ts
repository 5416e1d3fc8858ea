import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { configObject, collectWarnings, keyWithoutEffect } from '../../src/library/json/config-object.ts';
import { nearestName } from '../../src/library/text/nearest-name.ts';

const Config = configObject({
  max_retries: z.int().default(2),
  retry_delay_seconds: z.int().optional(),
  slots: z.array(configObject({ day: z.int() }).refine(({ day }) => day < 7)).default([]),
  auth: z
    .discriminatedUnion('type', [configObject({ type: z.literal('none') }), configObject({ type: z.literal('token'), token: z.string() })])
    .optional(),
  names: z.record(z.string(), configObject({ first: z.string().optional() })).optional(),
  tool_uuids: keyWithoutEffect('Tools of another service are not known here'),
});
const warningsOf = (value: unknown) => collectWarnings(Config, value, ['body']).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);

test('the warning about a misspelt key names the key that was meant', () => {
  for (const [written, meant] of [
    ['max_retry', 'max_retries'],
    ['maxRetries', 'max_retries'],
    ['MAX-RETRIES', 'max_retries'],
    ['retries', 'max_retries'],
    ['delay_seconds', 'retry_delay_seconds'],
    ['slot', 'slots'],
    ['colour', null],
    ['', null],
    ['x'.repeat(10_000), null],
  ] as const)
    expect(nearestName(written, ['max_retries', 'retry_delay_seconds', 'slots']), written).toBe(meant);
});

test('each unknown key is named in its place, however deep, and known ones are not', () => {
  expect(
    warningsOf({
      max_retrys: 1,
      slots: [{ day: 1 }, { day: 2, start: '09:00' }],
      auth: { type: 'token', token: 't', tokens: 1 },
      names: { ada: { frist: 'Ada' } },
    }),
  ).toEqual([
    'body.max_retrys: `max_retrys` is not known and has no effect; did you mean `max_retries`?',
    'body.slots.1.start: `start` is not known and has no effect; known here: `day`',
    'body.auth.tokens: `tokens` is not known and has no effect; did you mean `token`?',
    'body.names.ada.frist: `frist` is not known and has no effect; did you mean `first`?',
  ]);
  expect(warningsOf({ max_retries: 1, slots: [{ day: 1 }], auth: { type: 'none' } })).toEqual([]);
});

test('a key without effect is warned of when its value would change something, and is never suggested', () => {
  expect(warningsOf({ tool_uuids: ['a'] })).toEqual(['body.tool_uuids: Tools of another service are not known here']);
  for (const blank of [null, false, '', [], {}]) expect(warningsOf({ tool_uuids: blank })).toEqual([]);
  expect(warningsOf({ tool_uuid: 1 })[0]).not.toContain('did you mean');
});

test('names of prototypes are keys like others', () => {
  for (const key of ['constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
    expect(warningsOf({ [key]: 1 })[0], key).toContain(`\`${key}\` is not known`);
    expect(Config.parse({ [key]: 1 })).toMatchObject({ [key]: 1 });
  }
  const parsed = Config.parse(JSON.parse('{"__proto__":{"max_retries":7}}'));
  expect(parsed.max_retries).toBe(2);
  expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
});

test('more unknown keys than anybody reads are counted', () => {
  const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`key_${index}`, index]));
  const warnings = collectWarnings(Config, many, ['body', 'config']);
  expect(warnings).toHaveLength(101);
  expect(warnings.at(-1)).toEqual({ loc: ['body', 'config'], msg: '49900 more keys are not known and have no effect' });
});

test('whatever JSON is given, warnings are collected without a throw, and a config that fits keeps every key', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(() => warningsOf(value)).not.toThrow();
      const parsed = Config.safeParse(value);
      if (!parsed.success) return;
      for (const [key, item] of Object.entries(value as object))
        if (key !== '__proto__' && !Object.hasOwn(Config.shape, key)) expect((parsed.data as Record<string, unknown>)[key]).toEqual(item);
    }),
  );
});
