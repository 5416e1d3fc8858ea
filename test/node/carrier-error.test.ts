import { describe, expect, test } from 'vitest';
import { explainCarrierError, isPermanentError } from '../../src/providers/telephony/carrier-error.ts';
import { carriers } from '../../src/providers/telephony/registry.ts';
import { errorsFromNotifications } from '../../src/providers/telephony/twilio/errors.ts';

const url = 'https://calls.example.com';

describe('why a call did not come to talk', () => {
  test.each([
    [
      'twilio',
      { code: '64102', words: 'Unable to connect to websocket URL' },
      /PUBLIC_URL \(https:\/\/calls.example.com\).*Twilio error 64102: Unable/,
      false,
    ],
    ['twilio', { code: '11200', words: 'HTTP retrieval failure' }, /PUBLIC_URL/, false],
    ['telnyx', { words: 'customer_disconnect' }, /PUBLIC_URL.*\(Telnyx: customer_disconnect\)/, false],
    ['twilio', { code: '64106', words: 'Invalid argument' }, /workflow_configurations.*Twilio error 64106/, true],
    ['telnyx', { words: 'Telnyx answered with status 422: Invalid voice' }, /workflow_configurations/, true],
    [
      'twilio',
      { code: '64101', words: 'The AI/ML Features Addendum is not accepted' },
      /ConversationRelay is not switched on.*Addendum is not accepted/,
      true,
    ],
    ['twilio', { code: '12200', words: 'Account must complete ConversationRelay onboarding' }, /Voice, Settings, General/, true],
    ['telnyx', { words: 'Conversation Relay is not enabled for this account' }, /Telnyx portal/, true],
    [
      'twilio',
      { code: '12100', words: 'Document parse failure' },
      /did not connect the call with the agent \(Twilio error 12100: Document parse failure\)/,
      false,
    ],
    ['telnyx', { words: 'relay_error' }, /did not connect .*Telnyx: relay_error/, false],
  ] as const)('%s %j', (provider, fault, sentence, lasts) => {
    const explanation = explainCarrierError(carriers[provider], fault, url);
    expect(explanation).toMatch(sentence);
    if (!/PUBLIC_URL/.test(sentence.source)) expect(explanation).not.toContain('PUBLIC_URL');
    expect(isPermanentError(fault)).toBe(lasts);
  });
});

test('notifications of a call are read oldest first, errors alone, whatever form their text has', () => {
  const notifications = [
    { log: '0', error_code: '12100', message_text: 'LogLevel=ERROR&Msg=Document+parse+failure&ErrorCode=12100' },
    { log: '1', error_code: '21262', message_text: 'a warning' },
    { log: 0, error_code: 64_102, message_text: 'plain words of token-1' },
    'nonsense',
  ];
  expect(errorsFromNotifications({ notifications }, 'token-1')).toEqual([
    { code: '64102', words: 'plain words of ****' },
    { code: '12100', words: 'Document parse failure' },
  ]);
  for (const body of [undefined, {}, { notifications: 'none' }]) expect(errorsFromNotifications(body, 'x')).toEqual([]);
});
