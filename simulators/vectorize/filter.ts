import type { StoredVector, VectorizeFilter, VectorizeValue } from './binding.ts';

type Operand = VectorizeValue | null | (VectorizeValue | null)[];

const indexedBytes = 64;

/** Properties of `metadata` that can be filtered by, a string as its first 64 bytes. */
export function toIndexedValue(
  metadata: Record<string, unknown> | undefined,
  indexes: ReadonlyMap<string, string>,
): Record<string, VectorizeValue> {
  const found = Object.entries(metadata ?? {}).filter(([name, value]) => indexes.get(name) === typeof value);
  return Object.fromEntries(found.map(([name, value]) => [name, cut(value as VectorizeValue)]));
}

/** A property without a metadata index matches nothing, as Vectorize has it. */
export const matches = ({ indexed }: StoredVector, filter: VectorizeFilter): boolean =>
  Object.entries(filter).every(([name, condition]) => {
    const value = indexed[name];
    if (value === undefined) return false;
    if (typeof condition !== 'object' || condition === null) return value === cut(condition);
    return Object.entries(condition).every(([operator, operand]) => holds(value, operator, operand));
  });

function holds(value: VectorizeValue, operator: string, operand: Operand): boolean {
  if (Array.isArray(operand)) return operand.map(cut).includes(value) === (operator === '$in');
  const other = cut(operand);
  switch (operator) {
    case '$eq':
      return value === other;
    case '$ne':
      return value !== other;
  }
  if (other === null || typeof other !== typeof value) return false;
  if (operator === '$lt') return value < other;
  if (operator === '$lte') return value <= other;
  return operator === '$gt' ? value > other : value >= other;
}

const cut = <Value extends VectorizeValue | null>(value: Value): Value =>
  (typeof value === 'string' ? new TextDecoder().decode(new TextEncoder().encode(value).subarray(0, indexedBytes)) : value) as Value;
