import type { Progress } from './progress.ts';

/** What statistics count of a run, whatever the order in which it was there. */
export interface Trail {
  /** The nodes that the run has reached, sorted. */
  nodes: string[];
  /** The latest variant of each split, by node id; absent: the run passed none. */
  variants?: Record<string, string>;
  /** Tokens of language models, [prompt, completion]; absent: none was asked. Not a part of the counters' key. */
  tokens?: [number, number];
}

/** The trail of a run as JSON. Two runs that have reached the same nodes and variants have the same text but for their tokens. */
export function toTrail({ visits, variants, usage }: Pick<Progress, 'visits' | 'variants' | 'usage'>): string {
  const trail: Trail = {
    nodes: Object.keys(visits).toSorted(),
    ...(variants && { variants: Object.fromEntries(Object.entries(variants).toSorted(([one], [other]) => (one < other ? -1 : 1))) }),
    ...(usage && { tokens: [usage.prompt_tokens, usage.completion_tokens] }),
  };
  return JSON.stringify(trail);
}
