import { LinearPattern } from '../patterns/linear-pattern.ts';
import type { WorkBudget } from '../work-budget.ts';
import { pathOf, type Fault, type Way } from './faults.ts';
import type { References, Schema } from './references.ts';

/** One value under one schema. */
export interface Visit {
  schema: Record<string, unknown>;
  value: unknown;
  way: Way | null;
  /** null: only whether the value fits is asked. */
  faults: Fault[] | null;
  /** Properties and items that a schema has spoken for; null where no `unevaluated...` asks. */
  spokenFor: Set<string> | null;
  run: Run;
}

/** What all visits of one validation share. */
export interface Run {
  budget: WorkBudget;
  targets: References['targets'];
  asksUnevaluated: boolean;
  depth: number;
  /** Whether a value fits a schema. */
  fits(schema: Schema, visit: Omit<Visit, 'schema'>): boolean;
}

/** A value with more faults than these is told to have at least as many. */
export const maximumFaults = 1000;

/** Records a fault and answers that the value does not fit. */
export function fault({ faults, way }: Visit, keyword: string, message: string, key?: string): false {
  if (faults && faults.length < maximumFaults)
    faults.push({ path: key === undefined ? pathOf(way) : [...pathOf(way), key], keyword, message });
  return false;
}

/** Whether what is in the value at `key` fits. */
export const partFits = (visit: Visit, schema: Schema, key: string, part: unknown, faults = visit.faults): boolean =>
  visit.run.fits(schema, { ...visit, value: part, way: { key, before: visit.way }, faults, spokenFor: emptySpokenFor(visit.run) });

export const emptySpokenFor = ({ asksUnevaluated }: Run): Set<string> | null => (asksUnevaluated ? new Set() : null);

/** Throws PatternError. */
export const patternOf = (pattern: string, { budget }: Run): LinearPattern => LinearPattern.of(pattern, budget);
