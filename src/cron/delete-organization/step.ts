import type { Context } from '../../context.ts';

/** What a page of a step came to. `later`: others have to act first. */
interface StepResult {
  next: 'more' | 'done' | 'later';
  /** Rows, files and objects that went. */
  removed: number;
}

/** One part of taking an organization away. Every page is repeatable. */
export interface DeletionStep {
  name: string;
  runPage(context: Context, asked: DeletionRequest): Promise<StepResult>;
}

interface DeletionRequest {
  /** Epoch ms at which the deletion was asked for. */
  requestedAt: number;
}

/** Isolates know an organization for a minute after it was looked up, and what they have begun ends within another. */
export const cacheExpiryMs = 120_000;
