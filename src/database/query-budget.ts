import { AsyncLocalStorage } from 'node:async_hooks';

/** D1 in production takes so many queries of one invocation of a Worker or an object. Source: Cloudflare D1 limits. */
export const maxQueries = 1000;

interface Invocation {
  queries: number;
}

const current = new AsyncLocalStorage<Invocation>();

/** Runs the work of one invocation and counts its queries to D1. */
export const runInvocation = <Result>(work: () => Result): Result => current.run({ queries: 0 }, work);

/** Counts queries in, and answers how many there have been; 0 outside of a counted invocation. */
export function countQueries(queries: number): number {
  const invocation = current.getStore();
  if (!invocation) return 0;
  invocation.queries += queries;
  return invocation.queries;
}

/** Whether the invocation has made so many queries that the next invocation should do the rest. */
export const isQueryBudgetSpent = (): boolean => countQueries(0) > maxQueries / 2;
