import { Liquid, Output, toValue, toValueSync, type Context, type Emitter, type Template } from 'liquidjs';
import { LRUCache } from 'lru-cache';
import { cleanText } from '../../library/text/clean-text.ts';
import type { Json } from '../../library/json/json.ts';
import type { WorkBudget } from '../../library/limits/work-budget.ts';
import { RenderBudget, spendTraversal, budgetOf, CountingContext } from './budget.ts';
import { CountedCase, countedFilter, countedOperators, weightOf } from './step-costs.ts';
import { templateFilters } from './filters.ts';
import { limitRanges } from './ranges.ts';

const maxTemplateLength = 256 * 1024;
const maxOutputLength = 256 * 1024;
/** Longer templates are not cached: a parsed template takes twenty times the memory of its text. */
const maxCachedLength = 10_000;

/** Escapes each value that a template inserts; the template's own text stays as it is. */
export type Escape = (text: string) => string;

class Engine {
  readonly liquid: Liquid;
  readonly #parsed = new LRUCache<string, Template[]>({ max: 200, memoMethod: (text) => this.liquid.parse(text) });

  constructor(escape?: Escape) {
    this.liquid = new Liquid({
      ownPropertyOnly: true,
      strictFilters: true,
      parseLimit: maxTemplateLength,
      operators: countedOperators,
      timezoneOffset: 'UTC',
      locale: 'en-US',
      ...(escape && { outputEscape: (value: unknown) => escape(toText(toValue(value))) }),
    });
    // These tags would read other templates from files.
    for (const tag of ['include', 'render', 'layout', 'block']) delete this.liquid.tags[tag];
    const filters = { ...this.liquid.filters, ...templateFilters };
    for (const [name, filter] of Object.entries(filters)) this.liquid.registerFilter(name, countedFilter(name, filter));
    this.liquid.registerTag('case', CountedCase);
    this.#countRendering();
  }

  /** Wraps the engine's renderer, which renders captures, too, so that all work is counted. */
  #countRendering(): void {
    const { renderer } = this.liquid;
    const renderTemplates = renderer.renderTemplates.bind(renderer);
    renderer.renderTemplates = function* (templates: Template[], context: Context, emitter?: Emitter) {
      const budget = budgetOf(context);
      budget.steps.spend(weightOf(templates));
      return yield* renderTemplates(templates, context, emitter ?? new BoundedEmitter(budget, true));
    } as typeof renderTemplates;
  }

  parse(text: string): Template[] {
    return text.length > maxCachedLength ? this.liquid.parse(text) : this.#parsed.memo(text);
  }
}

limitRanges();

const plainEngine = new Engine();
const escapingEngines = new Map<Escape, Engine>();

function engineFor(escape: Escape | undefined): Engine {
  if (escape === undefined) return plainEngine;
  const engine = escapingEngines.get(escape) ?? new Engine(escape);
  escapingEngines.set(escape, engine);
  return engine;
}

/** The parsed template. Throws an Error that names the fault. */
export const parseTemplate = (text: string): Template[] => plainEngine.parse(text);

/** Collects output. Throws at the limit, before a loop fills the memory. */
class BoundedEmitter {
  buffer = '';
  readonly #budget: RenderBudget;
  readonly #isCapture: boolean;

  constructor(budget: RenderBudget, isCapture: boolean) {
    this.#budget = budget;
    this.#isCapture = isCapture;
  }

  write(html: unknown): void {
    const value: unknown = toValue(html);
    spendTraversal(value, this.#budget.steps);
    const text = Array.isArray(value) ? value.map(toText).join('') : toText(value);
    if (this.#isCapture) this.#budget.use(text.length);
    this.buffer += text;
    if (this.buffer.length > maxOutputLength) throw outputTooLongError();
  }
}

const outputTooLongError = () => new Error(`its output is longer than ${maxOutputLength} characters`);

const toText = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/**
 * Evaluates a template. A text that is one expression gives the expression's value, any other text a string. `escape` is applied to each
 * inserted value; each `escape` function has an engine for good, so there must be few. Steps count against `whole`, too. Throws the
 * engine's errors.
 */
export function evaluateTemplate(text: string, scope: object, escape?: Escape, whole?: WorkBudget): Json {
  const engine = engineFor(escape);
  const budget = new RenderBudget(whole);
  budget.steps.spend(text.length > maxCachedLength ? text.length / 4 : 1);
  const templates = engine.parse(text);
  // A copy, since the increment tag writes into its scope.
  const context = new CountingContext({ ...scope }, engine.liquid.options, engine.liquid, budget);
  const [first] = templates;
  if (templates.length === 1 && first instanceof Output) return toJson(toValue(toValueSync(first.value.value(context))), budget);
  const emitter = new BoundedEmitter(budget, false);
  toValueSync(engine.liquid.renderer.renderTemplates(templates, context, emitter));
  // Filters may cut a surrogate pair in half.
  return cleanText(emitter.buffer);
}

/** undefined, NaN and Infinity, which JSON does not have, become null. */
function toJson(value: unknown, budget: RenderBudget): Json {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'string' && value.length > maxOutputLength) throw outputTooLongError();
  spendTraversal(value, budget.steps);
  return typeof value === 'string' ? cleanText(value) : (value as Json);
}
