import type { Context } from '../../accounts/context.ts';

/** What a page of a step came to. `later`: others have to act first. */
export interface Page {
  next: 'more' | 'done' | 'later';
  /** Rows, files and objects that went. */
  removed: number;
}

/** One part of taking an organization away. Every page is repeatable. */
export interface Step {
  name: string;
  page(context: Context, asked: Asked): Promise<Page>;
}

export interface Asked {
  /** Epoch ms at which the deletion was asked for. */
  at: number;
}

/** Isolates know an organization for a minute after it was looked up, and what they have begun ends within another. */
export const settleMs = 120_000;
