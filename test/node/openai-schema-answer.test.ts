import { Validator, type Schema } from '@cfworker/json-schema';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answerSchema } from '../../simulators/openai/schema-answer.ts';

const object = (properties: Record<string, unknown>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const answer = (properties: Record<string, unknown>, ...texts: string[]) => answerSchema(object(properties), texts);

describe('an answer by schema tells what the text says', () => {
  const text =
    "Hi, my name is Grace Hopper and I'd like a table for four on friday at 7 pm. Mail me at grace@example.com or call +1 415-555-0123.";

  test('names, days, times, numbers, mail addresses and phones', () => {
    expect(
      answer(
        {
          name: { type: 'string' },
          first_name: { type: 'string' },
          last_name: { type: 'string' },
          day: { type: 'string' },
          time: { type: 'string' },
          guests: { type: 'integer' },
          email: { type: 'string', format: 'email' },
          phone: { type: 'string' },
        },
        text,
      ),
    ).toEqual({
      name: 'Grace Hopper',
      first_name: 'Grace',
      last_name: 'Hopper',
      day: 'Friday',
      time: '7 pm',
      guests: 4,
      email: 'grace@example.com',
      phone: '+1 415-555-0123',
    });
  });

  test('the mentioned option, a yes or a no, and null for a missing fact', () => {
    const interest = { type: 'string', enum: ['cold', 'warm', 'hot', 'unknown'] };
    expect(answer({ interest }, 'The lead is very hot')).toEqual({ interest: 'hot' });
    expect(answer({ interest }, 'Nothing to see')).toEqual({ interest: 'unknown' });
    expect(answer({ wants_demo: { type: 'boolean' } }, 'Yes, gladly')).toEqual({ wants_demo: true });
    expect(answer({ wants_demo: { type: 'boolean' } }, "I don't think so")).toEqual({ wants_demo: false });
    expect(answer({ answer: { enum: ['yes', 'no'] } }, 'Absolutely')).toEqual({ answer: 'yes' });
    const nothing = { day: { type: ['string', 'null'] }, budget: { anyOf: [{ type: 'number' }, { type: 'null' }] } };
    expect(answer(nothing, 'Hello there')).toEqual({ day: null, budget: null });
    expect(answer(nothing, 'My budget is 1,250.50 and Monday suits me')).toEqual({ day: 'Monday', budget: 1250.5 });
  });

  test('lists of all facts, the number nearest to its word, the text after a label', () => {
    expect(answer({ days: { type: 'array', items: { type: 'string' } } }, 'Monday, Tuesday or monday')).toEqual({
      days: ['Monday', 'Tuesday'],
    });
    const counts = { adults: { type: 'integer' }, children: { type: 'integer' } };
    expect(answer(counts, 'We are 2 adults and 3 children')).toEqual({ adults: 2, children: 3 });
    expect(answer({ city: { type: 'string' }, date: { type: 'string', format: 'date' } }, 'City: Paris, on March 3rd, 2027')).toEqual({
      city: 'Paris',
      date: '2027-03-03',
    });
  });

  test('what the other side said in a transcript, not the agent', () => {
    const said = 'Agent: I am Sam. Would Monday suit you?\nUser: No. I am Ada, and Wednesday is better.';
    expect(answer({ name: { type: 'string' }, day: { type: 'string' } }, said)).toEqual({ name: 'Ada', day: 'Wednesday' });
  });

  test('the newest text first, the older ones where it is silent', () => {
    expect(answer({ day: { type: 'string' }, name: { type: 'string' } }, 'Rather Sunday', 'I am Ada, and Monday suits me')).toEqual({
      day: 'Sunday',
      name: 'Ada',
    });
  });
});

const text = fc.constantFrom(
  '',
  'Yes, Tuesday at 10:30 for 12 people',
  "I don't know, call Ada Lovelace on 2027-01-31",
  'ünïcode 👋 and -3.5',
  'x',
);
const patterns = [
  '^[A-Z]{2}\\d{4}$',
  '^\\+?[1-9]\\d{6,14}$',
  '^(?:red|green)-[a-f0-9]+$',
  '^[^@\\s]+@[^@\\s]+$',
  '\\bword\\b',
  '^.{3,5}$',
  '^v\\d+(\\.\\d+){2}$',
];

const range = (minimum: number, size: number) => ({ minimum, maximum: minimum + size });
const leaf = fc.oneof(
  fc.record({ type: fc.constant('string'), minLength: fc.nat(30), description: fc.constantFrom('name', 'day', 'summary', 'phone') }),
  fc.record({ type: fc.constant('string'), maxLength: fc.nat(10) }),
  fc.record({ type: fc.constant('string'), pattern: fc.constantFrom(...patterns) }),
  fc.record({
    type: fc.constant('string'),
    format: fc.constantFrom('email', 'date', 'date-time', 'time', 'uri', 'uuid', 'ipv4', 'ipv6', 'hostname', 'duration'),
  }),
  fc.tuple(fc.integer({ min: -50, max: 50 }), fc.nat(20)).map(([least, size]) => ({ type: 'integer', ...range(least, size) })),
  fc
    .tuple(fc.integer({ min: -50, max: 50 }), fc.constantFrom(0.5, 3, 10))
    .map(([least, multipleOf]) => ({ type: 'number', multipleOf, ...range(least, 10) })),
  fc.record({ type: fc.constant('number'), exclusiveMinimum: fc.integer({ min: -5, max: 5 }) }),
  fc.record({ enum: fc.uniqueArray(fc.constantFrom('tuesday', 'other', 12, true, null, 'maybe not'), { minLength: 1 }) }),
  fc.constantFrom<object>(
    { type: 'boolean' },
    { type: 'null' },
    { const: 'fixed' },
    { type: ['integer', 'null'] },
    { $ref: '#/$defs/tree' },
  ),
);
const { schema } = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc
      .dictionary(fc.constantFrom('name', 'day', 'count', 'wants_it', 'notes'), tie('schema'))
      .chain((properties) =>
        fc.subarray(Object.keys(properties)).map((required) => ({ type: 'object', properties, required, additionalProperties: false })),
      ),
    fc.record({ type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(2), maxItems: fc.integer({ min: 2, max: 4 }) }),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
  ),
}));
const tree = object({ label: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/tree' } } });

test('whatever the schema and the text, the answer fits the schema', () => {
  fc.assert(
    fc.property(schema, text, (root, said) => {
      const whole = { ...root, $defs: { tree } };
      const value = answerSchema(whole, [said]);
      const { errors } = new Validator(structuredClone(whole) as Schema, '2020-12', false).validate(value);
      expect(errors, JSON.stringify({ whole, said, value })).toEqual([]);
    }),
    { numRuns: 1000 },
  );
});

describe('a place that takes a sentence word for word', () => {
  const quote = {
    type: ['string', 'null'],
    description: 'The sentence in which the person asks not to be called again, copied word for word',
  };
  const quoted = (transcript: string) =>
    (answer({ do_not_call_quote: quote }, transcript) as { do_not_call_quote: string | null }).do_not_call_quote;

  test.each([
    ['Agent: Hello?\nPerson: I am busy. Please do not call me again! Bye.', 'Please do not call me again!'],
    ['Agent: Hello?\nPerson: Never call this number again.', 'Never call this number again.'],
  ])('finds it: %s', (transcript, sentence) => {
    expect(quoted(transcript)).toBe(sentence);
  });

  test.each([
    ['Agent: Shall I not call again?\nPerson: Tuesday is fine.'],
    ['Agent: Hello?\nPerson: Call me again on Tuesday.'],
    ['Agent: Hello?\nPerson: No, I am not interested.'],
  ])('is null where nobody said it: %s', (transcript) => {
    expect(quoted(transcript)).toBeNull();
  });
});
