import { Liquid, Output, toValue, toValueSync, type Context, type Emitter, type Template } from 'liquidjs';
import { BoundedCache } from '../library/bounded-cache.ts';
import { cleanText } from '../library/clean-text.ts';
import type { Json } from '../library/json.ts';
import type { WorkBudget } from '../library/work-budget.ts';
import { RenderBudget, spendVisit } from './template-budget.ts';
import { budgetOf, CountingContext } from './template-context.ts';
import { CountedCase, countedFilter, countedOperators, weightOf } from './template-costs.ts';
import { templateFilters } from './template-filters.ts';
import { boundRanges } from './template-ranges.ts';

const maximumTemplateLength = 256 * 1024;
const maximumOutputLength = 256 * 1024;
/** Parsed templates take twenty times the memory of their text. */
const longestKept = 10_000;

/** Makes text of others harmless where it is written into; what the template itself says stays. */
export type Escape = (text: string) => string;

class Engine {
  readonly liquid: Liquid;
  readonly #parsed = new BoundedCache<string, Template[]>(200);

  constructor(escape?: Escape) {
    this.liquid = new Liquid({
      ownPropertyOnly: true,
      strictFilters: true,
      parseLimit: maximumTemplateLength,
      operators: countedOperators,
      timezoneOffset: 'UTC',
      locale: 'en-US',
      ...(escape && { outputEscape: (value: unknown) => escape(textOf(toValue(value))) }),
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
    return text.length > longestKept ? this.liquid.parse(text) : this.#parsed.get(text, () => this.liquid.parse(text));
  }
}

boundRanges();

const plain = new Engine();
const escaping = new Map<Escape, Engine>();

function engineFor(escape: Escape | undefined): Engine {
  if (escape === undefined) return plain;
  const engine = escaping.get(escape) ?? new Engine(escape);
  escaping.set(escape, engine);
  return engine;
}

/** Throws an Error that says what does not parse. */
export const parseTemplate = (text: string): Template[] => plain.parse(text);

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
    spendVisit(value, this.#budget.steps);
    const text = Array.isArray(value) ? value.map(textOf).join('') : textOf(value);
    if (this.#isCapture) this.#budget.use(text.length);
    this.buffer += text;
    if (this.buffer.length > maximumOutputLength) throw tooLong();
  }
}

const tooLong = () => new Error(`its output is longer than ${maximumOutputLength} characters`);

const textOf = (value: unknown): string => {
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
  budget.steps.spend(text.length > longestKept ? text.length / 4 : 1);
  const templates = engine.parse(text);
  // A copy, because the increment tag writes into the scope it is given.
  const context = new CountingContext({ ...scope }, engine.liquid.options, engine.liquid, budget);
  const [first] = templates;
  if (templates.length === 1 && first instanceof Output) return jsonOf(toValue(toValueSync(first.value.value(context))), budget);
  const emitter = new BoundedEmitter(budget, false);
  toValueSync(engine.liquid.renderer.renderTemplates(templates, context, emitter));
  // Filters cut between the halves of a pair.
  return cleanText(emitter.buffer);
}

/** What JSON has no word for (undefined, NaN, Infinity) is null. */
function jsonOf(value: unknown, budget: RenderBudget): Json {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'string' && value.length > maximumOutputLength) throw tooLong();
  spendVisit(value, budget.steps);
  return typeof value === 'string' ? cleanText(value) : (value as Json);
}
