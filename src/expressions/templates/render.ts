import { analyzeSync } from 'liquidjs';
import { isRecord, type Json } from '../../library/json/json.ts';
import { WorkBudget } from '../../library/limits/work-budget.ts';
import { evaluateTemplate, parseTemplate, type Escape } from './engine.ts';

/** What a template can name: the roots of the run and its top-level variables. */
export type Scope = Record<string, unknown>;

/** What a tenant wrote and that cannot be evaluated, with the values that it met. The message says what to change. */
export class EvaluationError extends Error {}

/** A template that does not parse or cannot be rendered. The message names the template and says what is wrong. */
export class TemplateError extends EvaluationError {
  constructor(template: string, reason: string) {
    super(`Template ${JSON.stringify(shorten(template, 120))}: ${shorten(reason, 200)}`);
    this.name = 'TemplateError';
  }
}

/** The name of the failure in a run's record. */
export const evaluationErrorType = (error: EvaluationError): string =>
  error instanceof TemplateError ? 'template_error' : 'condition_error';

const shorten = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}...` : text);

export const isTemplate = (text: string): boolean => text.includes('{{') || text.includes('{%');

/** The top-level names that a text reads when it is rendered, such as `contact`. The text must parse. */
export const findTemplateRoots = (text: string): string[] =>
  isTemplate(text) ? Object.keys(analyzeSync(parseTemplate(text)).globals) : [];

const maxScopeSteps = 2_000_000;
const scopeBudgets = new WeakMap<Scope, WorkBudget>();

/** All that is rendered with `scope`, together, gets one budget: the texts of a node, which may be many. */
export function withSharedBudget(scope: Scope): Scope {
  scopeBudgets.set(scope, new WorkBudget(maxScopeSteps, 'render fewer texts in one node'));
  return scope;
}

export const sharedBudget = (scope: Scope): WorkBudget | undefined => scopeBudgets.get(scope);

/**
 * Renders one text. A text that is one whole `{{ expression }}` gives the value with its type (null for a missing one), any other a string.
 * Throws TemplateError.
 */
export function render(template: string, scope: Scope, escape?: Escape, whole = scopeBudgets.get(scope)): Json {
  if (!isTemplate(template)) return template;
  try {
    return evaluateTemplate(template, scope, escape, whole);
  } catch (error) {
    throw new TemplateError(template, toReason(error));
  }
}

/** As `render`, as text: null is the empty text, objects and arrays are JSON. With `escape`, what the template writes of the scope goes through it. */
export function renderText(template: string, scope: Scope, escape?: Escape): string {
  const value = render(template, scope, escape);
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Renders every text inside a JSON value; keys stay as they are. Throws TemplateError. */
export function renderDeep(value: unknown, scope: Scope): Json {
  if (typeof value === 'string') return render(value, scope);
  if (Array.isArray(value)) return value.map((item) => renderDeep(item, scope));
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renderDeep(item, scope)]));
  return (value ?? null) as Json;
}

/** Why `text` does not parse as a template, naming it, or null. */
export function validateTemplate(text: string): string | null {
  if (!isTemplate(text)) return null;
  try {
    parseTemplate(text);
    return null;
  } catch (error) {
    return new TemplateError(text, toReason(error)).message;
  }
}

/** Each text inside a JSON value that does not parse as a template, with its path. */
export function templateProblems(value: unknown, path: string[] = []): { path: string[]; message: string }[] {
  if (typeof value === 'string') {
    const message = validateTemplate(value);
    return message ? [{ path, message }] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => templateProblems(item, [...path, key]));
}

/** The first line of the engine's message: what follows is an excerpt of the template with positions. */
const toReason = (error: unknown): string => String(error instanceof Error ? error.message : error).split('\n')[0] ?? '';
