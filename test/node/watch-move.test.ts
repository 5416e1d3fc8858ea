import { expect, test } from 'vitest';
import { LocalError } from '../../scripts/local/settings.ts';
import { watchMove, type MoveState } from '../../scripts/local/watch-move.ts';

const asked: MoveState = {
  kept_in: 'embedded',
  phase: null,
  move_to: 'vectorize',
  total: 0,
  moved: 0,
  missing: 0,
  missing_documents: '[]',
  error: null,
  due_at: 0,
};
const copying: MoveState = { ...asked, phase: 'copying', total: 900, due_at: 1 };
const turned: MoveState = { ...copying, kept_in: 'vectorize', phase: 'clearing', moved: 900 };
const over: MoveState = { ...turned, phase: null, move_to: null, due_at: null };

/** What is shown of a move that goes through these states, and what it ends with. */
async function shownOf(states: MoveState[]) {
  const shown: string[] = [];
  const progress = {
    copied: (passages: number, of: number) => void shown.push(`${passages}/${of}`),
    note: (line: string) => void shown.push(line),
    stop: () => void shown.push('stopped'),
  };
  const rest = [...states];
  const end = await watchMove(async () => rest.shift()!, 'vectorize', progress, 0).catch((error: unknown) => error);
  return { shown, end };
}

test('a move is shown from the wish to its end, each line once', async () => {
  const { shown, end } = await shownOf([
    asked,
    asked,
    copying,
    { ...copying, moved: 500 },
    { ...copying, moved: 900 },
    turned,
    turned,
    over,
  ]);
  expect(shown.map((line) => line.slice(0, 20))).toEqual([
    'Waiting for the serv',
    '500/900',
    '900/900',
    'All passages are cop',
    'Search looks into th',
    'stopped',
  ]);
  expect(end).toMatch(/^The vectors are in the vectorize index.*nothing else to do/);
});

test('what the service meets is said, and it is said that it tries again', async () => {
  const { shown } = await shownOf([{ ...asked, error: 'no index is bound' }, over]);
  expect(shown[0]).toBe('The service could not go on, and tries again: no index is bound');
});

test('a move that was called off is an error with the reason', async () => {
  const back: MoveState = { ...copying, phase: 'clearing', move_to: 'embedded', error: 'it is full' };
  const { shown, end } = await shownOf([back, { ...back, phase: null, move_to: null, due_at: null }]);
  expect(shown).toEqual(['The move is called off: it is full. What was copied is cleared away.', 'stopped']);
  expect(end).toBeInstanceOf(LocalError);
  expect((end as Error).message).toBe('The vectors are still in the embedded index. it is full');
});

test('passages without a vector are reported with the documents to process again', async () => {
  const { end } = await shownOf([{ ...over, missing: 2, missing_documents: '["one","two"]' }]);
  expect(end).toMatch(/2 passages had none to move.*reprocess for one, two\./);
});
