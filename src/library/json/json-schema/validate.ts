import { OverBudgetError, type WorkBudget } from '../../limits/work-budget.ts';
import { checkArray } from './arrays.ts';
import type { Fault } from './faults.ts';
import { checkObject } from './objects.ts';
import type { References, Schema } from './references.ts';
import { checkConstants, checkNumber, checkText, checkType } from './scalars.ts';
import { newEvaluated, addFault, maxFaults, type ValidationRun, type Visit } from './visit.ts';

const maxDepth = 1000;

/**
 * The faults of `value` under `schema`, a JSON Schema 2020-12 whose references are resolved. When the budget is spent, the faults found so
 * far, with a note that the rest was not checked. Throws OverBudgetError when none was found by then, and PatternError for an unsupported
 * pattern.
 */
export function findFaults(schema: Schema, references: References, value: unknown, budget: WorkBudget): Fault[] {
  const faults: Fault[] = [];
  const asksUnevaluated = references.places.some(({ node }) => 'unevaluatedItems' in node || 'unevaluatedProperties' in node);
  const run: ValidationRun = { budget, targets: references.targets, tracksEvaluated: asksUnevaluated, depth: 0, isValid };
  try {
    isValid(schema, { value, path: null, faults, evaluated: newEvaluated(run), run });
  } catch (error) {
    if (!(error instanceof OverBudgetError) || faults.length === 0) throw error;
    if (faults.length < maxFaults)
      faults.push({ path: [], keyword: 'budget', message: `The rest was not checked: the schema ${error.message}` });
  }
  return faults;
}

function isValid(schema: Schema, asked: Omit<Visit, 'schema'>): boolean {
  const { run } = asked;
  run.budget.spend(3);
  if (schema === true) return true;
  if (schema === false) return addFault({ ...asked, schema: {} }, 'false', 'This field is not allowed here');
  if (run.depth === maxDepth) throw new OverBudgetError('refers to itself without end');
  run.depth++;
  const visit: Visit = { ...asked, schema };
  // All checks run, because each reports its own faults.
  const checks = [
    checkReference(visit),
    checkType(visit),
    checkConstants(visit),
    ...checkChoices(visit),
    checkCondition(visit),
    checkObject(visit),
    checkArray(visit),
    checkNumber(visit),
    checkText(visit),
  ];
  run.depth--;
  const isFit = checks.every(Boolean);
  if (!isFit) run.budget.spend(5);
  return isFit;
}

function checkReference(visit: Visit): boolean {
  const target = visit.run.targets.get(visit.schema);
  return target === undefined || visit.run.isValid(target, visit);
}

function checkChoices(visit: Visit): boolean[] {
  const { schema, run } = visit;
  const { not, anyOf, allOf, oneOf } = schema;
  const checks: boolean[] = [];
  const spoken: Set<string>[] = [];
  /** What a choice speaks for counts only when it holds. */
  const holds = (of: Schema, faults: Fault[] | null): boolean => {
    const spokenFor = visit.evaluated && new Set(visit.evaluated);
    if (spokenFor) run.budget.spend(spokenFor.size / 8);
    if (!run.isValid(of, { ...visit, faults, evaluated: spokenFor })) return false;
    if (spokenFor) spoken.push(spokenFor);
    return true;
  };
  if (not !== undefined && run.isValid(not as Schema, { ...visit, faults: null, evaluated: newEvaluated(run) }))
    checks.push(addFault(visit, 'not', 'Instance matched "not" schema.'));
  if (Array.isArray(anyOf) && !(anyOf as Schema[]).map((of) => holds(of, null)).includes(true))
    checks.push(addFault(visit, 'anyOf', 'Instance does not match any subschemas.'));
  if (Array.isArray(allOf)) checks.push(!(allOf as Schema[]).map((of) => holds(of, visit.faults)).includes(false));
  if (Array.isArray(oneOf)) {
    const matches = (oneOf as Schema[]).filter((of) => holds(of, null)).length;
    if (matches !== 1) checks.push(addFault(visit, 'oneOf', `Instance does not match exactly one subschema (${matches} matches).`));
  }
  for (const keys of spoken) for (const key of keys) visit.evaluated!.add(key);
  return checks;
}

function checkCondition(visit: Visit): boolean {
  const { schema, run } = visit;
  if (schema['if'] === undefined) return true;
  const spokenFor = newEvaluated(run);
  const holds = run.isValid(schema['if'] as Schema, { ...visit, faults: null, evaluated: spokenFor });
  if (holds) for (const key of spokenFor ?? []) visit.evaluated!.add(key);
  const then = schema[holds ? 'then' : 'else'] as Schema | undefined;
  return then === undefined || run.isValid(then, visit);
}
