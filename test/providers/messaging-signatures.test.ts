import { expect, test } from 'vitest';
import { hasValidMetaSignature } from '../../src/providers/messaging/meta/signature.ts';

// Computed outside: the provider's requests must be known in the runtime that receives them, whatever another one says.

test('the runtime knows a webhook that Meta has signed, and no other', () => {
  const signature = 'sha256=5f9beeed2e1e89805bea7cbb95a08185aa38c3c39eafbadecbf2cfeafb2955d7';
  expect(hasValidMetaSignature('{"hello":"world"}', signature, 'appsecret')).toBe(true);
  expect(hasValidMetaSignature('{"hello":"World"}', signature, 'appsecret')).toBe(false);
  expect(hasValidMetaSignature('{"hello":"world"}', signature, 'another')).toBe(false);
  expect(hasValidMetaSignature('{"hello":"world"}', null, 'appsecret')).toBe(false);
});
