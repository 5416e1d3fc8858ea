import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StoredMessage } from '../../src/voice-agents/conversation/contract.ts';
import { findDoNotCallRequest } from '../../src/voice-agents/conversation/do-not-call-request.ts';

const message = (role: StoredMessage['role'], text: string): StoredMessage => ({ id: 1, at: 0, nodeId: 'n', role, text });
const said = (...texts: string[]) => texts.map((text) => message('user', text));

describe('the request of a person', () => {
  test.each([
    ['as it was said', 'Do not call me again.', 'Well. Do not call me again. Bye!', 'Do not call me again.'],
    ['in another case and without its apostrophe', 'dont call me', "I'm busy, DON'T call me!", "I'm busy, DON'T call me!"],
    ['over line breaks', 'never call again', 'Never  call\n again', 'Never call again'],
    ['in German', 'rufen sie mich nicht mehr an', 'Bitte rufen Sie mich nicht mehr an!', 'Bitte rufen Sie mich nicht mehr an!'],
    ['in Chinese', '不要再打电话', '你好。请不要再打电话给我。再见', '请不要再打电话给我。'],
    ['over two sentences', 'Stop. No more calls', 'Stop. No more calls.', 'Stop. No more calls.'],
    ['with accents', "N'appelez plus jamais à ce numéro", "N'appelez plus jamais a ce numero.", "N'appelez plus jamais a ce numero."],
  ])('is found %s', (_kind, quote, text, sentence) => {
    expect(findDoNotCallRequest(quote, said('Hello?', text))).toEqual({ quote, sentence });
  });

  test.each([
    ['words of the agent', [message('assistant', 'Shall I never call again?'), message('user', 'What?')], 'never call again'],
    ['words of a tool', [message('tool', 'never call again')], 'never call again'],
    ['a part of a word', said('I recall again'), 'call again'],
    ['words in another order', said('again call never'), 'never call again'],
    ['signs alone', said('...'), '...'],
  ])('is not %s', (_kind, messages, quote) => {
    expect(findDoNotCallRequest(quote, messages)).toEqual({ quote, sentence: null });
  });

  test.each([[null], [undefined], [''], [' '], [7]])('%j is no request', (quote) => {
    expect(findDoNotCallRequest(quote, said('never call'))).toBeUndefined();
  });

  test('is always found in what was said, whatever was said', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.string({ maxLength: 50 }), (text, other) => {
        fc.pre(/[\p{L}\p{N}]/u.test(text));
        const found = findDoNotCallRequest(text, said(other, text));
        expect(found?.sentence).toEqual(expect.any(String));
      }),
    );
  });
});
