import { expect, test } from 'vitest';
import { toNetworkPrefix } from '../../src/http/network-prefix.ts';

test('an IPv4 address stands for itself, however it is written', () => {
  expect(toNetworkPrefix('198.51.100.7')).toBe('198.51.100.7');
  expect(toNetworkPrefix('::ffff:198.51.100.7')).toBe('198.51.100.7');
  expect(toNetworkPrefix('198.51.100.8')).not.toBe(toNetworkPrefix('198.51.100.7'));
});

test('all addresses of an IPv6 /64 are one caller, those of another are not', () => {
  expect(toNetworkPrefix('2001:db8:1:2::1')).toBe('2001:db8:1:2::/64');
  expect(toNetworkPrefix('2001:0db8:0001:0002:ffff:ffff:ffff:ffff')).toBe(toNetworkPrefix('2001:db8:1:2::1'));
  expect(toNetworkPrefix('2001:db8:1:3::1')).not.toBe(toNetworkPrefix('2001:db8:1:2::1'));
});

test('what is no address stands for itself, at a bounded length', () => {
  expect(toNetworkPrefix('unknown')).toBe('unknown');
  expect(toNetworkPrefix('x'.repeat(1000))).toHaveLength(64);
});
