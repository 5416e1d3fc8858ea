import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addPressedKey, formatPressedKeys, parseRelayFrame } from '../../durable-objects/call/relay-frames.ts';
import { conversationCostUsd, modelCostUsd } from '../../src/calls/post-call/model-prices.ts';
import { isOptOut } from '../../src/contacts/suppressions/opt-out-words.ts';

describe('pressed keys', () => {
  const key = fc.constantFrom(...'0123456789*ABCD');

  test('form a number that is complete without the # that ends it', () => {
    fc.assert(
      fc.property(fc.array(key, { minLength: 1, maxLength: 31 }), (keys) => {
        let before = '';
        for (const pressed of keys) {
          const result = addPressedKey(before, pressed);
          if (!('pending' in result)) return false;
          before = result.pending;
        }
        const end = addPressedKey(before, '#');
        return 'finished' in end && end.finished === keys.join('');
      }),
    );
  });

  test('are complete after 32 keys without a pause, and none is lost', () => {
    fc.assert(
      fc.property(fc.array(key, { maxLength: 100 }), (keys) => {
        const finished: string[] = [];
        let before = '';
        for (const pressed of keys) {
          const result = addPressedKey(before, pressed);
          before = 'pending' in result ? result.pending : '';
          if ('finished' in result) finished.push(result.finished);
        }
        return finished.every(({ length }) => length === 32) && [...finished, before].join('') === keys.join('');
      }),
    );
  });

  test('include a # alone, and come before the words that follow', () => {
    expect(addPressedKey('', '#')).toEqual({ finished: '#' });
    expect(formatPressedKeys('12')).toBe('pressed 12');
    expect(formatPressedKeys('12', 'as I said')).toBe('pressed 12. as I said');
    expect(formatPressedKeys('', 'as I said')).toBe('as I said');
    expect(formatPressedKeys('12', '  ')).toBe('pressed 12');
  });
});

describe('frames of the carrier', () => {
  const read = (frame: object) => parseRelayFrame(JSON.stringify(frame));

  test('are read with unknown fields, and without optional ones', () => {
    const setup = { type: 'setup', sessionId: 'VX1', callSid: 'CA1' };
    expect(read({ ...setup, customParameters: { a: 'b' } })).toEqual(setup);
    expect(read({ type: 'setup', sessionId: 'VX1' })).toEqual({ type: 'setup', sessionId: 'VX1' });
    expect(read({ type: 'prompt', voicePrompt: 'Yes', lang: 'en-US' })).toEqual({ type: 'prompt', voicePrompt: 'Yes', last: true });
    expect(read({ type: 'interrupt', utteranceUntilInterrupt: 'Life', durationUntilInterruptMs: '460' })).toEqual({
      type: 'interrupt',
      utteranceUntilInterrupt: 'Life',
    });
    expect(read({ type: 'error' })).toEqual({ type: 'error', description: '' });
  });

  test('are read or reported as a fault, whatever they contain, and never make the reader throw', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.record({ type: fc.constantFrom('setup', 'prompt', 'dtmf') }).map((frame) => JSON.stringify(frame)),
        ),
        (text) => {
          const frame = parseRelayFrame(text);
          return 'type' in frame || frame.fault.length > 0;
        },
      ),
    );
    expect(parseRelayFrame(new ArrayBuffer(2))).toEqual({ fault: 'it is binary' });
    expect(parseRelayFrame(`"${'x'.repeat(300_000)}"`)).toEqual({ fault: 'it has 300002 characters' });
  });
});

describe('the cost of a conversation', () => {
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 2_000_000 };

  test('is known for known models, with any reseller prefix and release date', () => {
    expect(modelCostUsd('gpt-6-luna', usage)).toBe(1.1);
    expect(modelCostUsd('openai/gpt-6-luna-2026-09-22', usage)).toBe(1.1);
    expect(modelCostUsd('gpt-6-luna', { prompt_tokens: 1234, completion_tokens: 56 })).toBe(0.000151);
  });

  test('is unknown for other models', () => {
    for (const model of ['llama', 'gpt-6', 'constructor', '']) expect(modelCostUsd(model, usage)).toBeNull();
  });

  test('is known for the models of Anthropic, with the date of a release', () => {
    expect(modelCostUsd('claude-haiku-4-5', usage)).toBe(11);
    expect(modelCostUsd('claude-haiku-4-5-20251001', usage)).toBe(11);
    expect(modelCostUsd('anthropic/claude-opus-5-5', usage)).toBe(44);
  });

  const answered = (model: string, languageModelId: number | null) => ({ model, languageModelId, ...usage });
  const own = { name: 'n', provider: 'openai', base_url: null, api_key: '', purposes: {}, first_token_seconds: 4 } as const;
  const priced = { ...own, id: 7, model: 'm-7', prompt_usd_per_million: 3, completion_usd_per_million: 4 };
  const unpriced = { ...own, id: 8, model: 'gpt-6-luna', prompt_usd_per_million: null, completion_usd_per_million: null };
  const costOf = (...usageByModel: ReturnType<typeof answered>[]) =>
    conversationCostUsd({ usage, usageByModel }, [priced, unpriced], 'gpt-6-luna');

  test('is the sum of what each of its models cost, at the price of its organization or at list price', () => {
    expect(costOf(answered('m-7', 7))).toBe(11);
    expect(costOf(answered('gpt-6-luna-2026-09-22', 8))).toBe(1.1);
    expect(costOf(answered('m-7', 7), answered('claude-haiku-4-5', null))).toBe(22);
  });

  test('takes the price of the model that was asked where the provider answers under another name', () => {
    expect(costOf(answered('gateway-model-3', null))).toBe(1.1);
    expect(costOf(answered('gateway-model-3', 8))).toBe(1.1);
  });

  test('is unknown when the price of one of its models is', () => {
    expect(conversationCostUsd({ usage, usageByModel: [answered('llama', 9)] }, [priced], 'llama')).toBeNull();
    expect(conversationCostUsd({ usage, usageByModel: [answered('m-7', 7), answered('llama', null)] }, [priced], 'llama')).toBeNull();
  });

  test('of a talk of an earlier version, or without a question, is that of the model it was to ask', () => {
    expect(conversationCostUsd({ usage }, [], 'gpt-6-luna')).toBe(1.1);
    expect(conversationCostUsd(null, [], 'gpt-6-luna')).toBe(0);
    expect(conversationCostUsd(null, [], 'llama')).toBeNull();
  });
});

test('an opt-out is an exact disposition or tag', () => {
  for (const word of ['do_not_call', 'Do not call', 'do-not-call', 'DNC', 'opt out', 'opted_out', 'unsubscribe']) {
    expect(isOptOut({ disposition: word, tags: [] }), word).toBe(true);
    expect(isOptOut({ disposition: null, tags: ['price', word] }), word).toBe(true);
  }
  for (const word of ['callback_requested', 'do_not_call_before_noon', 'interested', ''])
    expect(isOptOut({ disposition: word, tags: [word] }), word).toBe(false);
});
