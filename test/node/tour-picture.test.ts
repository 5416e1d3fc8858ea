import { expect, test } from 'vitest';
import { drawTerminal, pickLines } from '../../scripts/tour/picture.ts';

const output = `The service at http://127.0.0.1:8787/api/v1 is running; the key belongs to "Demo" (id 1).

1. Post <orders> & more
   POST /events  http://127.0.0.1:8787/docs/#events.create
   event 1

2. What became of each row
   GET /campaign/{campaign_id}/runs  http://127.0.0.1:8787/docs/#campaigns.listRows
   row 1  completed
   http://127.0.0.1:8787/api/v1/campaign/1

All 2 steps worked, in 3.0 s.
The addresses under /api/v1 work with: curl -s -H 'X-API-Key: vaa_secret' ADDRESS
`;

test('the picture has every step, the lines of some, and the end, without addresses and the key', () => {
  expect(pickLines(output)).toEqual([
    '1. Post <orders> & more',
    '2. What became of each row',
    '   row 1  completed',
    '',
    'All 2 steps worked, in 3.0 s.',
  ]);
});

test('the picture is well-formed: what XML means otherwise is escaped, long lines are cut', () => {
  const picture = drawTerminal('npm run tour', ['1. Post <orders> & more', 'x'.repeat(500)]);
  expect(picture).toContain('Post &lt;orders&gt; &amp; more');
  expect(picture).toContain(`${'x'.repeat(50)}`);
  expect(picture).not.toContain('x'.repeat(200));
});
