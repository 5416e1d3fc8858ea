import { expect, test } from 'vitest';
import { networkOf } from '../../src/accounts/network-address.ts';

test('an IPv4 address stands for itself, however it is written', () => {
  expect(networkOf('198.51.100.7')).toBe('198.51.100.7');
  expect(networkOf('::ffff:198.51.100.7')).toBe('198.51.100.7');
  expect(networkOf('198.51.100.8')).not.toBe(networkOf('198.51.100.7'));
});

test('all addresses of an IPv6 /64 are one caller, those of another are not', () => {
  expect(networkOf('2001:db8:1:2::1')).toBe('2001:db8:1:2::/64');
  expect(networkOf('2001:0db8:0001:0002:ffff:ffff:ffff:ffff')).toBe(networkOf('2001:db8:1:2::1'));
  expect(networkOf('2001:db8:1:3::1')).not.toBe(networkOf('2001:db8:1:2::1'));
});

test('what is no address stands for itself, at a bounded length', () => {
  expect(networkOf('unknown')).toBe('unknown');
  expect(networkOf('x'.repeat(1000))).toHaveLength(64);
});
