import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classifyText, providerFailure } from '../../src/providers/messaging/failures.ts';
import { fillParameters } from '../../src/providers/messaging/template-parameters.ts';
import { chooseTemplate, findPlaceholders, type TemplateParameter } from '../../src/providers/messaging/templates.ts';
import { failureOf, textTemplate } from './messaging-fakes.ts';

const named = (...names: string[]): TemplateParameter[] => names.map((name) => ({ name, place: 'body', kind: 'text' }));
const numbered = (count: number) => {
  const parameters = named(...Array.from({ length: count }, (_, index) => String(index + 1)));
  return textTemplate({ parameters, placeholders: count });
};
const byName = textTemplate({ parameters: named('customer_name', 'order_number'), isNamed: true });

const valuesOf = (result: ReturnType<typeof fillParameters>) => ('filled' in result ? result.filled.map(({ value }) => value) : result);
const wordsOf = (result: object) => failureOf(result).message;

describe('placeholders', () => {
  test('are counted once each, in the order of their numbers', () => {
    expect(findPlaceholders('{{2}} {{ 10 }} {{1}} {{9}} {{2}}')).toEqual(['1', '2', '9', '10']);
    expect(findPlaceholders('Hi {{ customer_name }}, {{order.number}}, {{customer_name}}')).toEqual(['customer_name', 'order.number']);
    expect(findPlaceholders('{1} {{}} {{{}}} }}{{')).toEqual([]);
  });
});

describe('parameters', () => {
  test('fill the placeholders in the order of their numbers, however they are given', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 30 }).chain((count) => fc.shuffledSubarray([...Array(count).keys()], { minLength: count })),
        (order) => {
          const params = Object.fromEntries(order.map((index) => [String(index + 1), `value ${index + 1}`]));
          expect(valuesOf(fillParameters(numbered(order.length), params))).toEqual(
            order.toSorted((one, other) => one - other).map((index) => `value ${index + 1}`),
          );
        },
      ),
    );
  });

  test('go by name, or by number where the template has names', () => {
    expect(valuesOf(fillParameters(byName, { order_number: '7', customer_name: 'Ada' }))).toEqual(['Ada', '7']);
    expect(valuesOf(fillParameters(byName, { 1: 'Ada', 2: '7' }))).toEqual(['Ada', '7']);
    expect(valuesOf(fillParameters(byName, { customer_name: 'Ada', 1: 'Bob', 2: '7' }))).toEqual(['Ada', '7']);
  });

  test('that are missing are named, all of them', () => {
    expect(wordsOf(fillParameters(numbered(3), { 2: 'x' }))).toBe(
      'template_params lacks "1", "3": the template "order_update" has 3 placeholders, "1", "2", "3"',
    );
    expect(wordsOf(fillParameters(byName, {}))).toContain('lacks "customer_name", "order_number"');
    expect(wordsOf(fillParameters(numbered(1), { name: 'Ada' }))).toContain(
      'lacks "1": the template "order_update" has one placeholder, "1"',
    );
  });

  test('with a name that the template does not have are left out, numbers beyond its last are refused', () => {
    expect(valuesOf(fillParameters(numbered(1), { 1: 'Ada', city: 'Rome' }))).toEqual(['Ada']);
    expect(wordsOf(fillParameters(numbered(1), { 1: 'Ada', 2: 'x', 3: 'y' }))).toContain('has "2", "3" too many');
    expect(wordsOf(fillParameters(byName, { 1: 'Ada', 2: '7', 3: 'y' }))).toContain('has "3" too many');
    expect(wordsOf(fillParameters(numbered(0), { 1: 'Ada' }))).toContain('has no placeholders');
    expect(wordsOf(fillParameters(numbered(1), { 0: 'x', 1: 'Ada' }))).toContain('has "0" too many');
  });

  test('of a header that counts for itself are never filled with those of the body', () => {
    const template = textTemplate({ parameters: [{ name: 'header_1', place: 'header', kind: 'text' }, ...named('1')], placeholders: 2 });
    expect(wordsOf(fillParameters(template, { 1: 'Ada' }))).toContain('lacks "header_1"');
    expect(wordsOf(fillParameters(template, { 1: 'Ada', 2: 'x', header_1: 'y' }))).toContain('has "2" too many');
    expect(valuesOf(fillParameters(template, { 1: 'Ada', header_1: 'News' }))).toEqual(['News', 'Ada']);
  });

  test.each([
    ['', 'is empty'],
    ['   ', 'is empty'],
    ['a\nb', 'line break'],
    ['a\rb', 'line break'],
    ['a\tb', 'tab'],
    ['a     b', 'more than four blanks'],
  ])('with the value %j are refused before anything is sent', (value, fault) => {
    const failure = failureOf(fillParameters(numbered(2), { 1: 'Ada', 2: value }));
    expect(failure).toMatchObject({ failure: 'template_params', retryable: false, code: null });
    expect(failure.message).toContain(`["2"] `);
    expect(failure.message).toContain(fault);
  });

  test('with four blanks in a row, braces or other scripts are taken as they are', () => {
    for (const value of ['a    b', '{{1}}', '"quoted" & <b>', 'नमस्ते', '👩‍👩‍👧'])
      expect(valuesOf(fillParameters(numbered(1), { 1: value }))).toEqual([value]);
  });
});

describe('a template', () => {
  const templates = [
    textTemplate({ id: 'a', language: 'en' }),
    textTemplate({ id: 'b', language: 'en_US' }),
    textTemplate({ id: 'c', name: 'welcome', language: 'de', otherName: 'Welcome (German)' }),
  ];
  const chosen = (name: string, language = '', defaultId?: string) => {
    const result = chooseTemplate(templates, { name, language, ...(defaultId !== undefined && { defaultId }) });
    return 'template' in result ? result.template.id : result.message;
  };

  test('is chosen by name and exact language', () => {
    expect(chosen('order_update', 'en_US')).toBe('b');
    expect(chosen('order_update', 'en')).toBe('a');
    expect(chosen('welcome', 'de')).toBe('c');
  });

  test('that is there in one language needs none named', () => {
    expect(chosen('welcome')).toBe('c');
    expect(chosen('order_update')).toBe('The template "order_update" is approved in several languages; give language: en, en_US');
  });

  test('in another language does not count as it, and the existing ones are listed', () => {
    expect(chosen('order_update', 'en_GB')).toBe('The template "order_update" is not approved in "en_GB"; it is in en, en_US');
    expect(chosen('order_update', 'en-US')).toContain('it is in en, en_US');
  });

  test('is found by its id and by its other name', () => {
    expect(chosen('b')).toBe('b');
    expect(chosen('Welcome (German)', 'de')).toBe('c');
  });

  test('that is not named is the default one', () => {
    expect(chosen('', '', 'c')).toBe('c');
    expect(chosen('order_update', 'en', 'c')).toBe('a');
    expect(chosen('')).toContain('give template_name');
  });

  test('that does not exist is reported with those that exist', () => {
    expect(chosen('nothing')).toBe('There is no approved template "nothing"; there are order_update, welcome');
    const many = Array.from({ length: 25 }, (_, index) => textTemplate({ id: `t${index}`, name: `t${index}` }));
    expect(wordsOf(chooseTemplate(many, { name: 'nothing', language: '' }))).toContain('t9 and 15 more');
    expect(wordsOf(chooseTemplate([], { name: 'nothing', language: '' }))).toBe('There is no approved template "nothing"');
  });

  test('that is there twice in one language has to be named by its id', () => {
    const twins = [textTemplate({ id: 'a' }), textTemplate({ id: 'b' })];
    expect(wordsOf(chooseTemplate(twins, { name: 'order_update', language: 'en' }))).toContain('name it by its id');
  });
});

describe('a failure', () => {
  test('tells what to do and what the provider said, in one line and without secrets', () => {
    const failure = providerFailure('Meta', 'template_missing', { code: 132001, words: 'Bad token tok-1\nin\tthe text' }, ['tok-1', '']);
    expect(failure).toEqual({
      failure: 'template_missing',
      message:
        'Meta has no such approved template in this language; choose one of the list of templates (Meta: 132001: Bad token **** in the text)',
      code: '132001',
      words: 'Bad token **** in the text',
      retryable: false,
    });
    expect(providerFailure('Meta', 'unknown', { words: { not: 'text' } }).message).toBe('Meta does not send the message');
    expect(providerFailure('Meta', 'unknown', { words: 'x'.repeat(10_000) }).message.length).toBeLessThan(300);
  });

  test('whose outcome is open is never to be tried again', () => {
    expect(providerFailure('Meta', 'provider_down', { outcomeUnknown: true })).toMatchObject({ outcomeUnknown: true, retryable: false });
    expect(providerFailure('Meta', 'provider_down', { outcomeUnknown: true, retryable: true })).toMatchObject({ retryable: false });
    expect(providerFailure('Meta', 'provider_down', {})).toMatchObject({ retryable: true });
  });

  test.each([
    ['Portal User Not Found With APIKey', 'auth'],
    ['Ticket has been expired.', 'window_closed'],
    ['Message failed: more than 24 hours have passed', 'window_closed'],
    ['Template order_update is not found or not approved', 'template_missing'],
    ['Template Not Found', 'template_missing'],
    ['The template is paused', 'template_paused'],
    ['Missing parameters: name', 'template_params'],
    ['User has opted out', 'opted_out'],
    ['Too Many Requests', 'rate_limited'],
    ['Insufficient balance', 'balance'],
    ['Wallet balance is low', 'balance'],
    ['Invalid WhatsApp number', 'not_on_channel'],
    ['Invalid Media Url', 'media'],
    ['Something odd', 'unknown'],
    ['', 'unknown'],
  ])('in the words %j is one of the class %s', (words, failure) => {
    expect(classifyText(words)).toBe(failure);
  });
});
