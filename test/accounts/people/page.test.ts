import { exports } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { origin } from '../../http/service.ts';

const read = (path: string) => exports.default.fetch(new Request(`${origin}${path}`));

test('the page of links is served with all that it loads, and runs nothing of another site', async () => {
  const answer = await read('/docs/people');
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
  expect(answer.headers.get('content-security-policy')).toContain("script-src 'self'");
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  const html = await answer.text();
  const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path!);
  expect(loaded.toSorted()).toEqual(['icon.svg', 'people.css', 'people.js']);
  for (const path of loaded) expect([path, (await read(`/docs/${path}`)).status]).toEqual([path, 200]);
  expect(html).not.toMatch(/<style|\son\w+=|<script>/);
});
