import { expect, test } from 'vitest';
import { MemoryBudget } from '../../durable-objects/vector-index/memory-budget.ts';

function holders(count: number) {
  const forgotten: number[] = [];
  const held = Array.from({ length: count }, (_, number) => ({ forget: () => void forgotten.push(number) }));
  return { forgotten, held, references: held.map((holder) => new WeakRef(holder)) };
}

test('without room for all, the longest unused entries are forgotten, and no more than necessary', () => {
  const { forgotten, references } = holders(4);
  const [a, b, c, d] = references as [WeakRef<never>, WeakRef<never>, WeakRef<never>, WeakRef<never>];
  const budget = new MemoryBudget(100);
  budget.use(a, 40);
  budget.use(b, 30);
  budget.use(c, 30);
  expect(forgotten).toEqual([]);
  budget.use(a, 40);
  budget.use(d, 10);
  expect(forgotten).toEqual([1]);
  budget.use(d, 60);
  expect(forgotten).toEqual([1, 2]);
});

test('an entry that is too large alone is kept while it is in use', () => {
  const { forgotten, references } = holders(2);
  const budget = new MemoryBudget(100);
  budget.use(references[0]!, 150);
  expect(forgotten).toEqual([]);
  budget.use(references[1]!, 1);
  expect(forgotten).toEqual([0]);
});

test('a forgotten entry takes no room, and comes back when it is used', () => {
  const { forgotten, references } = holders(2);
  const budget = new MemoryBudget(100);
  budget.use(references[0]!, 80);
  budget.use(references[1]!, 80);
  budget.use(references[0]!, 80);
  expect(forgotten).toEqual([0, 1]);
});
