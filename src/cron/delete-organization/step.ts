import type { Context } from '../../context.ts';

/** The outcome of a page of a step. `later`: something outside has to happen first. */
interface StepResult {
  next: 'more' | 'done' | 'later';
  /** The number of deleted rows, files and objects. */
  removed: number;
}

/** One part of the deletion of an organization. Every page is repeatable. */
export interface DeletionStep {
  name: string;
  runPage(context: Context, asked: DeletionRequest): Promise<StepResult>;
}

interface DeletionRequest {
  /** Epoch ms at which the deletion was asked for. */
  requestedAt: number;
}

/** An isolate caches an organization for a minute, and the work that it has started ends within another minute. */
export const cacheExpiryMs = 120_000;
