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
/** Parsed templates take twenty times the memory of their text. */
const maxCachedLength = 10_000;

/** Makes text of others harmless where it is written into; what the template itself says stays. */
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
    // Tags that would read other templates from files.
    for (const tag of ['include', 'render', 'layout', 'block']) delete this.liquid.tags[tag];
    const filters = { ...this.liquid.filters, ...templateFilters };
    for (const [name, filter] of Object.entries(filters)) this.liquid.registerFilter(name, countedFilter(name, filter));
    this.liquid.registerTag('case', CountedCase);
    this.#countRendering();
  }

  /** All that is rendered, captures too, passes here. */
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

/** Throws an Error that says what does not parse. */
export const parseTemplate = (text: string): Template[] => plainEngine.parse(text);

/** Collects output and stops at the limit, before a loop has filled the memory. */
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
 * The value of a text that is one whole expression, else the rendered text; each value `escape`d where there is such a rule, of which there
 * may be few. Its steps are `whole`'s, too. Throws the engine's errors.
 */
export function evaluateTemplate(text: string, scope: object, escape?: Escape, whole?: WorkBudget): Json {
  const engine = engineFor(escape);
  const budget = new RenderBudget(whole);
  budget.steps.spend(text.length > maxCachedLength ? text.length / 4 : 1);
  const templates = engine.parse(text);
  // A copy, because the increment tag writes into the scope it is given.
  const context = new CountingContext({ ...scope }, engine.liquid.options, engine.liquid, budget);
  const [first] = templates;
  if (templates.length === 1 && first instanceof Output) return toJson(toValue(toValueSync(first.value.value(context))), budget);
  const emitter = new BoundedEmitter(budget, false);
  toValueSync(engine.liquid.renderer.renderTemplates(templates, context, emitter));
  // Filters cut between the halves of a pair.
  return cleanText(emitter.buffer);
}

/** What JSON has no word for (undefined, NaN, Infinity) is null. */
function toJson(value: unknown, budget: RenderBudget): Json {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'string' && value.length > maxOutputLength) throw outputTooLongError();
  spendTraversal(value, budget.steps);
  return typeof value === 'string' ? cleanText(value) : (value as Json);
}
