import type { Scope } from './render.ts';

/** The names that templates and conditions always find; a payload key or a variable of the same name is hidden behind them. */
export const scopeRoots = ['contact', 'event', 'data', 'webhook', 'steps', 'run', 'organization', 'now'] as const;

export type ScopeRoots = Partial<Record<(typeof scopeRoots)[number], unknown>>;

export const isScopeRoot = (name: string): boolean => (scopeRoots as readonly string[]).includes(name);

/** `variables` are the payload's keys and what set_context wrote. A root that is absent is null, never a variable of its name. */
export const buildScope = (roots: ScopeRoots, variables: Record<string, unknown> = {}): Scope => ({
  ...variables,
  ...Object.fromEntries(scopeRoots.map((name) => [name, roots[name] ?? null])),
});
