import type { Profile } from './inspector.ts';

export interface HotFunction {
  where: string;
  /** Of the profile's whole time, from 0 to 1. */
  share: number;
}

/** The functions that take most of the time by themselves, and with all that they call. */
export function findHotFunctions(
  { nodes, samples, timeDeltas }: Profile,
  limit: number,
): Record<'by itself' | 'with what it calls', HotFunction[]> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const name = (id: number) => {
    const { functionName, url, lineNumber } = byId.get(id)!.callFrame;
    return `${functionName || '(anonymous)'}${url ? ` ${url.split('/').at(-1)}:${lineNumber + 1}` : ''}`;
  };
  const own = new Map<string, number>();
  const total = new Map<string, number>();
  let whole = 0;
  for (const [index, id] of samples.entries()) {
    const time = timeDeltas[index]!;
    whole += time;
    own.set(name(id), (own.get(name(id)) ?? 0) + time);
    // A recursive function counts once.
    const stack = new Set<string>();
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) stack.add(name(at));
    for (const each of stack) total.set(each, (total.get(each) ?? 0) + time);
  }
  const top = (times: Map<string, number>) =>
    [...times]
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, limit)
      .map(([where, time]) => ({ where, share: time / whole }));
  return { 'by itself': top(own), 'with what it calls': top(total) };
}
