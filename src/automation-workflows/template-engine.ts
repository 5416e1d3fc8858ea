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

const engine = new Liquid({
  ownPropertyOnly: true,
  strictFilters: true,
  parseLimit: maximumTemplateLength,
  memoryLimit: maximumMemory,
  timezoneOffset: 'UTC',
  locale: 'en-US',
});
// Tags that would read other templates from files.
for (const tag of ['include', 'render', 'layout', 'block']) delete engine.tags[tag];
for (const [name, filter] of Object.entries(templateFilters)) engine.registerFilter(name, filter);

const parsed = new BoundedCache<string, Template[]>(500);

/** Throws an Error that says what does not parse. */
export const parseTemplate = (text: string): Template[] => parsed.get(text, () => engine.parse(text));

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

/** The value of a text that is one whole expression, else the rendered text. Throws the engine's errors. */
export function evaluateTemplate(text: string, scope: object): Json {
  const templates = parseTemplate(text);
  const limits = { liquid: engine, renderLimit: new RenderBudget() };
  // A copy, because the increment tag writes into the scope it is given.
  const context = new Context({ ...scope }, engine.options, { sync: true }, limits as unknown as ConstructorParameters<typeof Context>[3]);
  const [first] = templates;
  if (templates.length === 1 && first instanceof Output) return jsonOf(toValue(toValueSync(first.value.value(context))));
  const emitter = new BoundedEmitter();
  toValueSync(engine.renderer.renderTemplates(templates, context, emitter));
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
