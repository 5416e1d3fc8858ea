import { expect, test } from 'vitest';
import { toTrail } from '../../src/automation-workflows/runs/engine/trail.ts';
import { toFunnel } from '../../src/statistics/funnel.ts';
import { toShare } from '../../src/statistics/wilson.ts';

const trail = (nodes: string[], variants?: Record<string, string>) => JSON.stringify({ nodes, ...(variants && { variants }) });
const ended = (nodes: string[], runs: number, more: object = {}) => ({
  version: 1,
  state: 'completed',
  outcome: '',
  end_node: nodes.at(-1) ?? '',
  trail: nodes.length === 0 ? '' : trail(nodes),
  runs,
  ...more,
});

test('a node has every run that has reached it, where they stand, and where they ended', () => {
  const funnel = toFunnel(
    [ended(['ask', 'in'], 6, { end_node: 'ask', state: 'failed' }), ended(['ask', 'in', 'out'], 3, { end_node: 'out', outcome: 'done' })],
    [{ version: 1, node: 'ask', trail: trail(['ask', 'in']), runs: 1 }],
  );
  expect(funnel).toMatchObject({
    runs: 10,
    live: 1,
    without_nodes: 0,
    ended: { completed: 3, failed: 6, cancelled: 0 },
    outcomes: { done: 3 },
  });
  expect(funnel.nodes).toEqual([
    { node_id: 'ask', reached: 10, reached_share: toShare(10, 10), waiting: 1, ended: { completed: 0, failed: 6, cancelled: 0 } },
    { node_id: 'in', reached: 10, reached_share: toShare(10, 10), waiting: 0, ended: { completed: 0, failed: 0, cancelled: 0 } },
    { node_id: 'out', reached: 3, reached_share: toShare(3, 10), waiting: 0, ended: { completed: 3, failed: 0, cancelled: 0 } },
  ]);
});

test('a run that was refused, or is queued, has reached nothing and is in no share', () => {
  const funnel = toFunnel([ended([], 4, { state: 'cancelled' }), ended(['in'], 1)], [{ version: 1, node: '', trail: '', runs: 2 }]);
  expect(funnel).toMatchObject({ runs: 1, live: 2, without_nodes: 4, ended: { completed: 1, cancelled: 4 } });
  expect(funnel.nodes).toMatchObject([{ node_id: 'in', reached: 1, reached_share: { rate: 1 } }]);
});

test('variants of a split are compared by the outcomes and the nodes of their runs', () => {
  const funnel = toFunnel(
    [
      { ...ended(['in', 'split'], 30), trail: trail(['in', 'split'], { split: 'a' }), outcome: 'won' },
      { ...ended(['in', 'split'], 70), trail: trail(['in', 'split'], { split: 'a' }), outcome: 'lost' },
      { ...ended(['in', 'mail', 'split'], 50), trail: trail(['in', 'mail', 'split'], { split: 'b' }), outcome: 'won' },
    ],
    [{ version: 1, node: 'mail', trail: trail(['in', 'mail', 'split'], { split: 'b' }), runs: 50 }],
  );
  expect(funnel.variants).toEqual([
    {
      node_id: 'split',
      variant: 'a',
      runs: 100,
      ended: { completed: 100, failed: 0, cancelled: 0 },
      outcomes: [
        { outcome: 'lost', runs: 70, share: toShare(70, 100) },
        { outcome: 'won', runs: 30, share: toShare(30, 100) },
      ],
      nodes: [{ node_id: 'in', reached: 100, share: toShare(100, 100) }],
    },
    {
      node_id: 'split',
      variant: 'b',
      runs: 100,
      ended: { completed: 50, failed: 0, cancelled: 0 },
      outcomes: [{ outcome: 'won', runs: 50, share: toShare(50, 50) }],
      nodes: [
        { node_id: 'in', reached: 100, share: toShare(100, 100) },
        { node_id: 'mail', reached: 100, share: toShare(100, 100) },
      ],
    },
  ]);
});

test('the trail of a run does not depend on the order in which it was there', () => {
  const one = toTrail({ visits: { in: 1, b: 3, a: 1 }, variants: { z: '1', y: '2' } });
  expect(toTrail({ visits: { a: 2, in: 1, b: 1 }, variants: { y: '2', z: '1' } })).toBe(one);
  expect(JSON.parse(one)).toEqual({ nodes: ['a', 'b', 'in'], variants: { y: '2', z: '1' } });
  expect(JSON.parse(toTrail({ visits: { a: 1 }, usage: { prompt_tokens: 3, completion_tokens: 4 } }))).toEqual({
    nodes: ['a'],
    tokens: [3, 4],
  });
});
