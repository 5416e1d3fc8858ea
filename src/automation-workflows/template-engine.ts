import { Context, Liquid, Output, toValue, toValueSync, type Template } from 'liquidjs';
import { BoundedCache } from '../library/bounded-cache.ts';
import type { Json } from '../library/json.ts';
import { templateFilters } from './template-filters.ts';

const maximumTemplateLength = 256 * 1024;
const maximumOutputLength = 256 * 1024;
/** Liquid's own count of array items and characters that filters make. */
const maximumMemory = 2_000_000;
const maximumMilliseconds = 500;
/** A Worker's clock stands still while code runs, so time alone would bound nothing there: each tag, output and text is counted too. */
const maximumSteps = 50_000;

/** Makes text of others harmless where it is written into; what the template itself says stays. */
export type Escape = (text: string) => string;

class Engine {
  readonly liquid: Liquid;
  readonly #parsed = new BoundedCache<string, Template[]>(500);

  constructor(escape?: Escape) {
    this.liquid = new Liquid({
      ownPropertyOnly: true,
      strictFilters: true,
      parseLimit: maximumTemplateLength,
      memoryLimit: maximumMemory,
      timezoneOffset: 'UTC',
      locale: 'en-US',
      ...(escape && { outputEscape: (value: unknown) => escape(textOf(toValue(value))) }),
    });
    // Tags that would read other templates from files.
    for (const tag of ['include', 'render', 'layout', 'block']) delete this.liquid.tags[tag];
    for (const [name, filter] of Object.entries(templateFilters)) this.liquid.registerFilter(name, filter);
  }

  parse(text: string): Template[] {
    return this.#parsed.get(text, () => this.liquid.parse(text));
  }
}

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

class RenderBudget {
  #stepsLeft = maximumSteps;
  readonly #deadline = performance.now() + maximumMilliseconds;

  /** Called by the engine before each tag, output and text. */
  check(now: number): void {
    if (--this.#stepsLeft < 0 || now > this.#deadline) throw new Error('it takes too many steps; loop over fewer items');
  }
}

/** Collects output and stops at the limit, before a loop has filled the memory. */
class BoundedEmitter {
  buffer = '';

  write(html: unknown): void {
    const value: unknown = toValue(html);
    this.buffer += Array.isArray(value) ? value.map(textOf).join('') : textOf(value);
    if (this.buffer.length > maximumOutputLength) throw new Error(`its output is longer than ${maximumOutputLength} characters`);
  }
}

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/**
 * The value of a text that is one whole expression, else the rendered text; each value `escape`d where there is such a rule, of which there
 * may be few. Throws the engine's errors.
 */
export function evaluateTemplate(text: string, scope: object, escape?: Escape): Json {
  const engine = engineFor(escape);
  const templates = engine.parse(text);
  const limits = { liquid: engine.liquid, renderLimit: new RenderBudget() };
  // A copy, because the increment tag writes into the scope it is given.
  const context = new Context(
    { ...scope },
    engine.liquid.options,
    { sync: true },
    limits as unknown as ConstructorParameters<typeof Context>[3],
  );
  const [first] = templates;
  if (templates.length === 1 && first instanceof Output) return jsonOf(toValue(toValueSync(first.value.value(context))));
  const emitter = new BoundedEmitter();
  toValueSync(engine.liquid.renderer.renderTemplates(templates, context, emitter));
  return emitter.buffer;
}

/** What JSON has no word for (undefined, NaN, Infinity) is null. */
function jsonOf(value: unknown): Json {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'string' && value.length > maximumOutputLength)
    throw new Error(`its output is longer than ${maximumOutputLength} characters`);
  return value as Json;
}
