import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseXml, XmlError } from '../../simulators/telephony/xml.ts';
import { connectTwiml, hangUpTwiml } from '../../src/providers/telephony/twilio/twiml.ts';

test('a call is joined to the relay by this document', () => {
  const relay = {
    url: 'wss://calls.example.com/call?a=1&b=2',
    greeting: 'Hello "Ada" & <friends>\nHow are you?',
    isGreetingInterruptible: 'speech',
    isInterruptible: 'none',
    language: 'en-GB',
    voice: 'Amy',
    ttsProvider: 'Amazon',
    transcriptionProvider: 'Deepgram',
    speechModel: 'nova-3-general',
    hints: ['Acme', 'Zoho Books'],
    hasDtmf: true,
    parameters: { run: '42', token: "a'b" },
  } as const;
  expect(connectTwiml(relay, 'https://calls.example.com/after?x=1&y=2')).toBe(
    '<?xml version="1.0" encoding="UTF-8"?><Response><Connect action="https://calls.example.com/after?x=1&amp;y=2" method="POST">' +
      '<ConversationRelay url="wss://calls.example.com/call?a=1&amp;b=2" welcomeGreeting="Hello &quot;Ada&quot; &amp; &lt;friends&gt;&#10;How are you?"' +
      ' welcomeGreetingInterruptible="speech" interruptible="none" language="en-GB" voice="Amy" ttsProvider="Amazon" transcriptionProvider="Deepgram"' +
      ' speechModel="nova-3-general" hints="Acme,Zoho Books" dtmfDetection="true"><Parameter name="run" value="42"/><Parameter name="token" value="a&apos;b"/></ConversationRelay></Connect></Response>',
  );
});

test('what is not set is left to the carrier', () => {
  expect(connectTwiml({ url: 'wss://a.test' }, 'https://b.test')).toBe(
    '<?xml version="1.0" encoding="UTF-8"?><Response><Connect action="https://b.test" method="POST"><ConversationRelay url="wss://a.test"></ConversationRelay></Connect></Response>',
  );
});

test('a call is ended by this document', () => {
  expect(hangUpTwiml()).toBe('<?xml version="1.0" encoding="UTF-8"?><Response><Hangup/></Response>');
});

test('every text comes out of a parser as it went in, save what XML cannot hold', () => {
  // oxlint-disable-next-line no-control-regex -- the rule is about control characters
  const possible = (text: string) => text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (greeting, value) => {
      const document = connectTwiml({ url: 'wss://a.test', greeting, parameters: { value } }, 'https://b.test');
      const relay = parseXml(document).children[0]!.children[0]!;
      expect(relay.attributes['welcomeGreeting']).toBe(possible(greeting));
      expect(relay.children[0]!.attributes).toEqual({ name: 'value', value: possible(value) });
    }),
  );
});

test.each(['', 'text', '<a>', '<a></b>', '<a/><b/>', '<a b=c/>', '<a b="1" b/>', '<a>&nope;</a>', '<a>& b</a>', '<a b="<"/>'])(
  'the carrier takes no document such as %j',
  (document) => {
    expect(() => parseXml(document)).toThrow(XmlError);
  },
);
