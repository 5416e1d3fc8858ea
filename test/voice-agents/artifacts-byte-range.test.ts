import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { byteRange } from '../../src/calls/records/send-artifact.ts';

test('ranges are read as RFC 9110 has them', () => {
  expect(byteRange('bytes=0-499', 1000)).toEqual({ offset: 0, length: 500 });
  expect(byteRange('bytes=500-', 1000)).toEqual({ offset: 500, length: 500 });
  expect(byteRange('bytes=-200', 1000)).toEqual({ offset: 800, length: 200 });
  expect(byteRange('bytes=900-5000', 1000)).toEqual({ offset: 900, length: 100 });
  expect(byteRange('bytes=-5000', 1000)).toEqual({ offset: 0, length: 1000 });
  for (const none of ['bytes=1000-', 'bytes=1000-1001', 'bytes=-0']) expect(byteRange(none, 1000)).toBe('unsatisfiable');
  for (const ignored of ['bytes=5-2', 'bytes=0-1,3-4', 'lines=0-1', 'bytes=-', 'bytes=a-b', ''])
    expect(byteRange(ignored, 1000)).toBeNull();
  for (const empty of ['bytes=0-', 'bytes=-1']) expect(byteRange(empty, 0)).toBe('unsatisfiable');
});

test('what is asked for lies inside, and is never more than was asked for', () => {
  fc.assert(
    fc.property(fc.nat(2000), fc.nat(2000), fc.integer({ min: 1, max: 1500 }), (first, more, size) => {
      const range = byteRange(`bytes=${first}-${first + more}`, size);
      const length = Math.min(first + more + 1, size) - first;
      expect(range).toEqual(first < size ? { offset: first, length } : 'unsatisfiable');
    }),
  );
});
