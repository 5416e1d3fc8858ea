import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromUnreserved, toUnreserved } from '../../src/library/text/unreserved.ts';

test('text in unreserved characters is the same however an address is taken apart, and comes back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const written = toUnreserved(text);
      expect(written).toMatch(/^[A-Za-z0-9._~-]*$/);
      expect(encodeURIComponent(written)).toBe(written);
      expect(fromUnreserved(written)).toBe(text.toWellFormed());
    }),
  );
});

test('what was written in percents and read before stays as it is', () => {
  for (const text of ['campaign:7:12:1', 'inbound:v3:a_b-c', '100%', '%zz ~ü']) expect(fromUnreserved(text)).toBe(text);
  expect(fromUnreserved('~FF')).toBe('~FF');
});
