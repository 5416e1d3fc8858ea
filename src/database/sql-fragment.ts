import type { Parameter } from './client.ts';

/** A part of a statement, and the values of its `?` in order. */
export interface SqlFragment {
  sql: string;
  parameters: Parameter[];
}
