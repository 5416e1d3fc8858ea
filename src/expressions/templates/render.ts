import { analyzeSync } from 'liquidjs';
import { isRecord, type Json } from '../../library/json/json.ts';
import { WorkBudget } from '../../library/limits/work-budget.ts';
import { evaluateTemplate, parseTemplate, type Escape } from './engine.ts';

/** The names that a template can read: the roots of the run and the top-level variables. */
export type Scope = Record<string, unknown>;

/** A customer's template or condition cannot be evaluated with the current values. The message says what to change. */
export class EvaluationError extends Error {}

/** A template does not parse or cannot be rendered. The message has the template and the fault. */
export class TemplateError extends EvaluationError {
  constructor(template: string, reason: string) {
    super(`Template ${JSON.stringify(shorten(template, 120))}: ${shorten(reason, 200)}`);
    this.name = 'TemplateError';
  }
}

/** The failure's `type` in a run's record. */
export const evaluationErrorType = (error: EvaluationError): string =>
  error instanceof TemplateError ? 'template_error' : 'condition_error';

const shorten = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}...` : text);

export const isTemplate = (text: string): boolean => text.includes('{{') || text.includes('{%');

/** The top-level names that a template reads, such as `contact`. Throws when `text` does not parse. */
export const findTemplateRoots = (text: string): string[] =>
  isTemplate(text) ? Object.keys(analyzeSync(parseTemplate(text)).globals) : [];

const maxScopeSteps = 2_000_000;
const scopeBudgets = new WeakMap<Scope, WorkBudget>();

/** Gives `scope` one budget for all texts that are rendered with it, such as the many texts of a node. */
export function withSharedBudget(scope: Scope): Scope {
  scopeBudgets.set(scope, new WorkBudget(maxScopeSteps, 'render fewer texts in one node'));
  return scope;
}

export const sharedBudget = (scope: Scope): WorkBudget | undefined => scopeBudgets.get(scope);

/**
 * Renders one text. A text that is one whole `{{ expression }}` gives the expression's value with its type (null when it is missing), any
 * other text a string. Throws TemplateError.
 * @example render('{{ data.total | times: 2 }}', { data: { total: 21 } }) // 42
 * @example render('Hello {{ contact.first_name }}', { contact: { first_name: 'Ada' } }) // 'Hello Ada'
 */
export function render(template: string, scope: Scope, escape?: Escape, whole = scopeBudgets.get(scope)): Json {
  if (!isTemplate(template)) return template;
  try {
    return evaluateTemplate(template, scope, escape, whole);
  } catch (error) {
    throw new TemplateError(template, toReason(error));
  }
}

/** As `render`, but always a string: null is empty, objects and arrays are JSON. `escape` is applied to each value from the scope. */
export function renderText(template: string, scope: Scope, escape?: Escape): string {
  const value = render(template, scope, escape);
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Renders every text inside a JSON value, but not the keys. Throws TemplateError. */
export function renderDeep(value: unknown, scope: Scope): Json {
  if (typeof value === 'string') return render(value, scope);
  if (Array.isArray(value)) return value.map((item) => renderDeep(item, scope));
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renderDeep(item, scope)]));
  return (value ?? null) as Json;
}

/** The reason why `text` does not parse as a template; null when it does. */
export function validateTemplate(text: string): string | null {
  if (!isTemplate(text)) return null;
  try {
    parseTemplate(text);
    return null;
  } catch (error) {
    return new TemplateError(text, toReason(error)).message;
  }
}

/** The texts inside a JSON value that do not parse as templates, each with its path. */
export function templateProblems(value: unknown, path: string[] = []): { path: string[]; message: string }[] {
  if (typeof value === 'string') {
    const message = validateTemplate(value);
    return message ? [{ path, message }] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => templateProblems(item, [...path, key]));
}

/** The first line of the engine's message. The other lines are an excerpt of the template. */
const toReason = (error: unknown): string => String(error instanceof Error ? error.message : error).split('\n')[0] ?? '';
