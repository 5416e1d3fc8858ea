import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluateCheck, toUnknownResult, type Evidence, type PlainCheck, type SideEvidence } from '../../src/simtest/checks/evaluate.ts';
import { compare } from '../../src/simtest/checks/comparisons.ts';
import { Check, comparators } from '../../src/simtest/config/config.ts';
import type { Speaker, TestTurn } from '../../src/simtest/contract.ts';

const turn = (number: number, speaker: Speaker, text: string): TestTurn => ({ number, speaker, text, at: number, latencyMs: 0 });

const side = (change: Partial<SideEvidence> = {}): SideEvidence => ({
  nodes: [
    { id: 'n1', name: 'Greeting' },
    { id: 'n2', name: 'Booking' },
  ],
  tools: [],
  disposition: 'interested',
  extracted: { day: 'Tuesday', people: 4, is_member: true, city: null, tags: ['a', 'B'] },
  unknownReason: null,
  ...change,
});

const evidence: Evidence = {
  turns: [turn(1, 'adversary', 'Hello, who is there?'), turn(2, 'actor', 'ACME here. Caf\u00e9 or tea?'), turn(3, 'adversary', 'Tea.')],
  actor: side(),
  adversary: side({ nodes: [{ id: 'x', name: 'x' }], disposition: null, extracted: {} }),
};

const evaluated = (check: object, known: Evidence = evidence) => {
  const { passed, detail } = evaluateCheck(Check.parse({ name: 'c', ...check }) as PlainCheck, known);
  return [passed, detail];
};

test('a result has the name of the check and whether it is required', () => {
  const check = Check.parse({ name: 'Short', type: 'max_turns', value: 3, required: false }) as PlainCheck;
  expect(evaluateCheck(check, evidence)).toEqual({ name: 'Short', required: false, passed: true, detail: 'there were 3 turns' });
  expect(toUnknownResult(check, 'nobody looked')).toEqual({
    name: 'Short',
    required: false,
    passed: null,
    detail: 'it is not known: nobody looked',
  });
});

test('a node was reached, by its id or its name, of the side that is meant', () => {
  expect(evaluated({ type: 'reached_node', node: 'n2' })).toEqual([true, 'reached; came through: Greeting, Booking']);
  expect(evaluated({ type: 'reached_node', node: 'Booking' })[0]).toBe(true);
  expect(evaluated({ type: 'reached_node', node: 'booking' })).toEqual([false, 'not reached; came through: Greeting, Booking']);
  expect(evaluated({ type: 'reached_node', node: 'n2', speaker: 'adversary' })).toEqual([false, 'not reached; came through: x']);
  expect(evaluated({ type: 'reached_node', node: 'x' }, { ...evidence, actor: side({ nodes: [] }) })).toEqual([
    false,
    'not reached; came through: none',
  ]);
});

test('a disposition is one of those that are asked for', () => {
  expect(evaluated({ type: 'disposition', value: 'interested' })).toEqual([true, 'the disposition was "interested"']);
  expect(evaluated({ type: 'disposition', value: ['sold', 'interested'] })[0]).toBe(true);
  expect(evaluated({ type: 'disposition', value: ['sold'] })).toEqual([false, 'the disposition was "interested"']);
  expect(evaluated({ type: 'disposition', value: 'sold', speaker: 'adversary' })).toEqual([
    false,
    'there was no disposition, since nothing was said to this side',
  ]);
});

test('what could not be found out neither passes nor fails', () => {
  const unknown = { ...evidence, actor: side({ unknownReason: 'the model slept' }) };
  expect(evaluated({ type: 'disposition', value: 'interested' }, unknown)).toEqual([null, 'the disposition is not known: the model slept']);
  expect(evaluated({ type: 'extracted', variable: 'day', value: 'Tuesday' }, unknown)).toEqual([null, 'day is not known: the model slept']);
  expect(evaluated({ type: 'reached_node', node: 'n2' }, unknown)[0]).toBe(true);
});

describe('words', () => {
  test('are found anywhere, without case, of the side that is meant or of both', () => {
    expect(evaluated({ type: 'contains', value: 'acme HERE' })).toEqual([true, 'said in turn 2']);
    expect(evaluated({ type: 'contains', value: 'tea', speaker: 'adversary' })).toEqual([true, 'said in turn 3']);
    expect(evaluated({ type: 'contains', value: 'tea' })).toEqual([true, 'said in turn 2']);
    expect(evaluated({ type: 'contains', value: 'who is', speaker: 'actor' })).toEqual([false, 'not said']);
    expect(evaluated({ type: 'not_contains', value: 'who is', speaker: 'actor' })).toEqual([true, 'not said']);
    expect(evaluated({ type: 'not_contains', value: 'hello' })).toEqual([false, 'said in turn 1']);
  });

  test('are found however their letters are composed', () => {
    expect(evaluated({ type: 'contains', value: 'cafe\u0301' })[0]).toBe(true);
  });

  test('are not found over the end of a turn', () => {
    expect(evaluated({ type: 'contains', value: 'tea? tea', speaker: 'any' })[0]).toBe(false);
  });

  test('are said or not said, never both nor neither', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string()),
        fc.string({ minLength: 1 }),
        fc.constantFrom('actor', 'adversary', 'any'),
        (texts, value, speaker) => {
          const turns = texts.map((text, index) => turn(index + 1, index % 2 ? 'actor' : 'adversary', text));
          const known = { ...evidence, turns };
          const [has] = evaluated({ type: 'contains', value, speaker }, known);
          expect(evaluated({ type: 'not_contains', value, speaker }, known)[0]).toBe(!has);
        },
      ),
    );
  });
});

describe('a tool', () => {
  const known = {
    ...evidence,
    actor: side({
      tools: [
        { speaker: 'actor', name: 'find', arguments: { order: { number: 7, tags: ['a'] }, more: 1 } },
        { speaker: 'actor', name: 'find', arguments: null },
        { speaker: 'actor', name: 'end_call', arguments: {} },
      ],
    }),
  };

  test('was called or not', () => {
    expect(evaluated({ type: 'tool_called', tool: 'find' }, known)).toEqual([true, 'called 2 times']);
    expect(evaluated({ type: 'tool_called', tool: 'end_call' }, known)).toEqual([true, 'called 1 time']);
    expect(evaluated({ type: 'tool_called', tool: 'book' }, known)).toEqual([false, 'not called; called: find, end_call']);
    expect(evaluated({ type: 'tool_called', tool: 'find', speaker: 'adversary' }, known)).toEqual([false, 'not called; called: none']);
  });

  test('was called with at least these arguments, deep down', () => {
    const withArguments = (expected: object) => evaluated({ type: 'tool_called', tool: 'find', arguments: expected }, known);
    expect(withArguments({ order: { number: 7 } })).toEqual([true, 'called with {"order":{"number":7,"tags":["a"]},"more":1}']);
    expect(withArguments({ order: { tags: ['a'] }, more: 1 })[0]).toBe(true);
    expect(withArguments({})[0]).toBe(true);
    expect(withArguments({ order: { number: '7' } })).toEqual([
      false,
      'called with other arguments: {"order":{"number":7,"tags":["a"]},"more":1}, null',
    ]);
    expect(withArguments({ order: { tags: [] } })[0]).toBe(false);
    expect(withArguments({ constructor: {} })[0]).toBe(false);
  });
});

describe('a variable', () => {
  const extracted = (variable: string, comparator: string, value?: unknown) =>
    evaluated({ type: 'extracted', variable, comparator, value });

  test('is compared with what is asked for', () => {
    expect(extracted('day', '=', 'tuesday')).toEqual([true, 'day was "Tuesday"']);
    expect(extracted('people', '=', '4.0')[0]).toBe(true);
    expect(extracted('people', '>=', 4)[0]).toBe(true);
    expect(extracted('people', '<', 4)).toEqual([false, 'people was 4']);
    expect(extracted('is_member', '=', true)[0]).toBe(true);
    expect(extracted('is_member', '=', 'TRUE')[0]).toBe(true);
    expect(extracted('day', '!=', 'Monday')[0]).toBe(true);
    expect(extracted('day', 'contains', 'TUES')[0]).toBe(true);
    expect(extracted('tags', 'contains', 'b')[0]).toBe(true);
    expect(extracted('tags', 'contains', 'c')[0]).toBe(false);
    expect(extracted('day', 'exists')[0]).toBe(true);
  });

  test('is compared with something, unless it only has to exist', () => {
    for (const value of [undefined, null]) {
      const check = { name: 'c', type: 'extracted', variable: 'day', value };
      expect(Check.safeParse(check).error?.issues).toMatchObject([{ path: ['value'], message: expect.stringContaining('Give what') }]);
      expect(Check.safeParse({ ...check, comparator: 'exists' }).success).toBe(true);
    }
  });

  test.for(comparators)('that is missing or null fails, whatever is asked of it (%s)', (comparator) => {
    for (const variable of ['city', 'nothing', 'toString'])
      expect(extracted(variable, comparator, 'x')).toEqual([false, `${variable} was not extracted`]);
  });

  test('that is no number cannot be more or less than one', () => {
    expect(extracted('day', '>', 3)).toEqual([false, 'day was "Tuesday", and only numbers can be compared by >']);
    expect(extracted('is_member', '<', 3)[0]).toBe(false);
  });

  const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.double({ noNaN: true }).map(String));

  test('is the same as another one or is not, in either direction', () => {
    fc.assert(
      fc.property(scalar, scalar, (one, other) => {
        const is = (...parameters: Parameters<typeof compare>) => (compare(...parameters) as { holds: boolean }).holds;
        expect(is(one, '!=', other)).toBe(!is(one, '=', other));
        expect(is(other, '=', one)).toBe(is(one, '=', other));
        expect(is(one, '=', one)).toBe(true);
      }),
    );
  });

  test('that is a number is less, more or the same, in digits as in words of digits', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), fc.boolean(), (one, other, inWords) => {
        const found = inWords ? String(one) : one;
        expect(compare(found, '<', other)).toEqual({ holds: one < other });
        expect(compare(found, '>=', String(other))).toEqual({ holds: one >= other });
        expect(compare(found, '=', String(other))).toEqual({ holds: one === other });
      }),
    );
  });
});
