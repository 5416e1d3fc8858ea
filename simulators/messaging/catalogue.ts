import { randomUUID } from 'node:crypto';
import { z } from 'zod';

/** A template as it is seeded; each vendor shows it in its own form. */
export const SimulatedTemplateSchema = z.strictObject({
  name: z.string().min(1),
  language: z.string().min(1).default('en'),
  status: z.enum(['approved', 'pending', 'rejected', 'paused', 'disabled']).default('approved'),
  category: z.enum(['UTILITY', 'MARKETING', 'AUTHENTICATION']).default('UTILITY'),
  /** With placeholders by number. */
  body: z.string().min(1),
  /** The names of the placeholders, at vendors that have names. */
  names: z.array(z.string()).default([]),
  /** The body with named placeholders, at vendors that have both kinds. */
  is_named: z.boolean().default(false),
});

export type SimulatedTemplate = z.output<typeof SimulatedTemplateSchema> & { id: string };

const seeds: z.input<typeof SimulatedTemplateSchema>[] = [
  { name: 'order_update', body: 'Hi {{1}}, your order {{2}} is on its way.', names: ['customer_name', 'order_number'] },
  { name: 'welcome', body: 'Welcome! We are glad that you are here.' },
  { name: 'old_promo', body: 'Everything for half the price, today only.', category: 'MARKETING', status: 'rejected' },
];

/** The templates of a vendor: the seeded ones, which every account has, and those that a test adds to one. */
export class TemplateStore {
  readonly #createId: () => string;
  readonly #seeded: SimulatedTemplate[];
  readonly #added = new Map<string, SimulatedTemplate[]>();

  /** `languages` beside `en` in which `order_update` is there. */
  constructor({ languages = [], createId = randomUUID }: { languages?: string[]; createId?: () => string } = {}) {
    this.#createId = createId;
    const more = languages.map((language) => Object.assign({}, seeds[0]!, { language }));
    this.#seeded = [...seeds, ...more].map((seed) => this.#make(seed));
  }

  #make(given: z.input<typeof SimulatedTemplateSchema>): SimulatedTemplate {
    return { ...SimulatedTemplateSchema.parse(given), id: this.#createId() };
  }

  add(account: string, given: z.input<typeof SimulatedTemplateSchema>[]): SimulatedTemplate[] {
    const made = given.map((one) => this.#make(one));
    this.#added.set(account, [...(this.#added.get(account) ?? []), ...made]);
    return made;
  }

  of(account: string): SimulatedTemplate[] {
    return [...this.#seeded, ...(this.#added.get(account) ?? [])];
  }
}

/** The numbers of the placeholders of a body, in order. */
export const placeholdersOf = ({ body }: SimulatedTemplate): string[] =>
  [...new Set([...body.matchAll(/\{\{(\d+)\}\}/g)].map(([, number]) => number!))].toSorted((one, other) => Number(one) - Number(other));

/** The name of each placeholder, in order; its number where it has none. */
export const namesOf = (template: SimulatedTemplate): string[] =>
  placeholdersOf(template).map((number, index) => template.names[index] ?? number);
