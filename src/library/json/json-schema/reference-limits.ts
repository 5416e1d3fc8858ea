import { isRecord } from '../json.ts';
import { appliedToItself } from './keywords.ts';
import type { References, SchemaFault } from './references.ts';

const maxAppliedSchemas = 5000;
const maxReferenceChain = 100;

/** The schemas that are applied to one value: their number, and the longest chain of them. */
interface AppliedCount {
  total: number;
  height: number;
}

/**
 * Finds references by which a schema applies itself to the same value again, or applies so many schemas that checking one value would take
 * forever.
 */
export function findReferenceFaults({ places, targets }: References): SchemaFault[] {
  const known = new Map<object, AppliedCount>();
  const open = new Set<object>();
  const circles = new Set<object>();
  const applied = (node: object): AppliedCount => {
    const before = known.get(node);
    if (before) return before;
    if (open.size > maxReferenceChain) return { total: 1, height: maxReferenceChain };
    open.add(node);
    const sum = { total: 1, height: 1 };
    for (const below of appliedBy(node as Record<string, unknown>, targets)) {
      if (open.has(below)) circles.add(node);
      else {
        const { total, height } = applied(below);
        sum.total = Math.min(sum.total + total, Number.MAX_SAFE_INTEGER);
        sum.height = Math.max(sum.height, height + 1);
      }
    }
    open.delete(node);
    known.set(node, sum);
    return sum;
  };
  for (const { node } of places) applied(node);
  const endless = places.filter(({ node }) => circles.has(node));
  if (endless.length > 0)
    return endless.map(({ node, path }) => ({ path: refPath(node, path), message: 'The schema refers to itself without end' }));
  const largest = places.find(({ node }) => known.get(node)!.total > maxAppliedSchemas || known.get(node)!.height > maxReferenceChain);
  if (!largest) return [];
  const { total, height } = known.get(largest.node)!;
  const message =
    height > maxReferenceChain
      ? `More than ${maxReferenceChain} schemas are applied after one another here; shorten the chain of references`
      : `${total.toLocaleString('en')} schemas apply to one value here, since the references multiply; refer to each schema once`;
  return [{ path: largest.path, message }];
}

const refPath = (node: object, path: string[]): string[] => (Object.hasOwn(node, '$ref') ? [...path, '$ref'] : path);

/** The schemas that are applied to the value that `node` is applied to. */
function appliedBy(node: Record<string, unknown>, targets: References['targets']): object[] {
  const { one, many, named } = appliedToItself;
  const applied = [
    targets.get(node),
    ...one.map((key) => node[key]),
    ...many.flatMap((key) => (Array.isArray(node[key]) ? (node[key] as unknown[]) : [])),
    ...named.flatMap((key) => (isRecord(node[key]) ? Object.values(node[key]) : [])),
  ];
  return applied.filter(isRecord);
}
