import { expect, test } from 'vitest';
import { hasValidTelnyxSignature } from '../../src/providers/telephony/telnyx/signature.ts';
import { hasValidTwilioSignature } from '../../src/providers/telephony/twilio/signature.ts';

// Computed outside: the carriers' requests must be known in the runtime that receives them, whatever another one says.

const parameters = new URLSearchParams({
  AccountSid: 'AC00000000000000000000000000000001',
  CallDuration: '12',
  CallSid: 'CA00000000000000000000000000000001',
  CallStatus: 'completed',
  From: '+15005550006',
  To: '+14155552671',
});
const posted = {
  url: 'https://api.example.test/api/v1/telephony/status/42?org=7',
  body: parameters.toString(),
  contentType: 'application/x-www-form-urlencoded',
};

test('the runtime knows a request that Twilio has signed with SHA-1, and no other', () => {
  const request = { ...posted, signature: 'mgoQC+Z/K6ondW5MdM8s3ptkmuQ=', settings: null };
  expect(hasValidTwilioSignature(request, { authToken: '12345' })).toBe(true);
  expect(hasValidTwilioSignature({ ...request, body: request.body.replace('12', '13') }, { authToken: '12345' })).toBe(false);
});

test('the runtime knows a request that Twilio has signed with a shared key', () => {
  const request = { ...posted, signature: 'qw/m5NKeD+n5go2u4wAhNPEyQ56w7yEwe1HzQIiLuKE=', settings: 'key=k1,algorithm=HMAC_SHA256' };
  expect(hasValidTwilioSignature(request, { authToken: 'x', sharedKeys: { k1: '12345' } })).toBe(true);
  expect(hasValidTwilioSignature(request, { authToken: '12345' })).toBe(false);
});

test('the runtime knows a body that Twilio has signed by its hash', () => {
  const request = {
    url: 'https://api.example.test/hook?bodySHA256=93a23971a914e5eacbf0a8d25154cda309c3c1c72fbb9914d47c60f3cb681588',
    body: '{"hello":"world"}',
    contentType: 'application/json',
    signature: 'JGgGrQUVmxYQNxypoZROma24X+s=',
    settings: null,
  };
  expect(hasValidTwilioSignature(request, { authToken: '12345' })).toBe(true);
  expect(hasValidTwilioSignature({ ...request, body: '{}' }, { authToken: '12345' })).toBe(false);
});

test('the runtime knows a webhook that Telnyx has signed, and survives one that it has not', async () => {
  const request = {
    body: '{"hello":"world"}',
    timestamp: '1700000000',
    signature: 'Dg6uY27Nn6ukX66yYbMs2a2wC0J7qZcwCeSh8HfaduPYPImPn6TAbweoZXmVyXHkjpsELx/xwmtpCgW3GCUtDw==',
  };
  // The key of the first test of RFC 8032, 7.1.
  const key = '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=';
  const now = 1_700_000_100_000;
  expect(await hasValidTelnyxSignature(request, key, now)).toBe(true);
  expect(await hasValidTelnyxSignature(request, key, now + 300_000)).toBe(false);
  for (const signature of ['', 'short', `${'A'.repeat(86)}==`])
    expect(await hasValidTelnyxSignature({ ...request, signature }, key, now)).toBe(false);
  for (const wrong of ['', 'nonsense', `${'A'.repeat(43)}=`, `${'/'.repeat(42)}8=`])
    expect(await hasValidTelnyxSignature(request, wrong, now)).toBe(false);
});
