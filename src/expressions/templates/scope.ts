import type { Scope } from './render.ts';

/** The names that templates and conditions can always read. They hide payload keys and variables of the same name. */
const scopeRoots = ['contact', 'event', 'data', 'webhook', 'steps', 'run', 'organization', 'now'] as const;

export type ScopeRoots = Partial<Record<(typeof scopeRoots)[number], unknown>>;

export const isScopeRoot = (name: string): boolean => (scopeRoots as readonly string[]).includes(name);

/** A scope of roots and `variables` (keys of the payload, and names that set_context wrote). An absent root is null, never a variable of that name. */
export const buildScope = (roots: ScopeRoots, variables: Record<string, unknown> = {}): Scope => ({
  ...variables,
  ...Object.fromEntries(scopeRoots.map((name) => [name, roots[name] ?? null])),
});
