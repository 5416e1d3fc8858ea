import { LinearPattern } from '../../patterns/linear-pattern.ts';
import type { WorkBudget } from '../../limits/work-budget.ts';
import { toPath, type Fault, type PathNode } from './faults.ts';
import type { References, Schema } from './references.ts';

/** The check of one value by one schema. */
export interface Visit {
  schema: Record<string, unknown>;
  value: unknown;
  path: PathNode | null;
  /** null: faults are not collected, only the result counts. */
  faults: Fault[] | null;
  /** Properties and items that a schema has evaluated; null when no `unevaluated...` keyword needs them. */
  evaluated: Set<string> | null;
  run: ValidationRun;
}

/** The state that all visits of one validation share. */
export interface ValidationRun {
  budget: WorkBudget;
  targets: References['targets'];
  tracksEvaluated: boolean;
  depth: number;
  /** Whether a value fits a schema. */
  isValid(schema: Schema, visit: Omit<Visit, 'schema'>): boolean;
}

/** The maximum number of collected faults. With more, the error says "at least". */
export const maxFaults = 1000;

/** Records a fault and answers that the value does not fit. */
export function addFault({ faults, path: way }: Visit, keyword: string, message: string, key?: string): false {
  if (faults && faults.length < maxFaults) faults.push({ path: key === undefined ? toPath(way) : [...toPath(way), key], keyword, message });
  return false;
}

/** Whether the part of the value at `key` fits its schema. */
export const isPartValid = (visit: Visit, schema: Schema, key: string, part: unknown, faults = visit.faults): boolean =>
  visit.run.isValid(schema, { ...visit, value: part, path: { key, parent: visit.path }, faults, evaluated: newEvaluated(visit.run) });

export const newEvaluated = ({ tracksEvaluated: asksUnevaluated }: ValidationRun): Set<string> | null =>
  asksUnevaluated ? new Set() : null;

/** Throws PatternError. */
export const compilePattern = (pattern: string, { budget }: ValidationRun): LinearPattern => LinearPattern.compile(pattern, budget);
