import { describe, expect, test } from 'vitest';
import { document, operations } from './operations.ts';

type Schema = Record<string, any>;

const resolve = (schema: Schema): Schema =>
  typeof schema['$ref'] === 'string'
    ? schema['$ref']
        .slice(2)
        .split('/')
        .reduce<any>((at, part) => at[part], document)
    : schema;

/** Every property inside `schema` as `[where it is, its schema]`; components stand for themselves and are not entered. */
function* propertiesOf(schema: Schema, where: string): Generator<[string, Schema]> {
  for (const [name, property] of Object.entries<Schema>(schema['properties'] ?? {})) {
    yield [`${where}.${name}`, property];
    yield* propertiesOf(property, `${where}.${name}`);
  }
  const inner = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => (schema[key] ?? []) as Schema[]);
  for (const one of [schema['items'], schema['additionalProperties'], ...inner])
    if (typeof one === 'object') yield* propertiesOf(one, where);
}

/** The words of a description that its field's name does not have. */
const newWords = (name: string, description: string): string[] => {
  const known = new Set(['the', 'a', 'an', 'of', 'this', ...name.toLowerCase().split(/[_.]/)]);
  return description
    .toLowerCase()
    .match(/[a-z0-9]+/g)!
    .filter((word) => !known.has(word));
};

const bodies = operations.flatMap(({ method, path, details }) => [
  ...Object.values<any>(details.requestBody?.content ?? {}).map((media) => ({ name: `${method} ${path} body`, media })),
  ...Object.entries<any>(details.responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([status, { content }]) => Object.values<any>(content ?? {}).map((media) => ({ name: `${method} ${path} ${status}`, media }))),
]);

const properties = [
  ...Object.entries<Schema>(document.components.schemas).flatMap(([name, schema]) => [...propertiesOf(schema, name)]),
  ...bodies.flatMap(({ name, media }) => [...propertiesOf(media.schema, name)]),
];

describe('the words of the OpenAPI document', () => {
  test('every field of every body and answer says more than its name', () => {
    expect(properties.length).toBeGreaterThan(1000);
    const silent = properties.filter(([where, schema]) => {
      const description: string = schema['description'] ?? resolve(schema)['description'] ?? '';
      return newWords(where.split('.').at(-1)!, description).length === 0;
    });
    expect(silent.map(([where]) => where)).toEqual([]);
  });

  test('every parameter and every answer is described', () => {
    const silent = operations.flatMap(({ method, path, details }) => [
      ...(details.parameters ?? [])
        .filter((one: Schema) => !resolve(one)['description'])
        .map((one: Schema) => `${method} ${path}: ${one['name']}`),
      ...Object.entries<Schema>(details.responses)
        .filter(([, response]) => ['', 'Success', undefined].includes(resolve(response)['description']))
        .map(([status]) => `${method} ${path}: ${status}`),
    ]);
    expect(silent).toEqual([]);
  });

  test('every request with a body and every answer of success has an example', () => {
    const hasExample = (media: any) => media.example !== undefined || Object.keys(media.examples ?? {}).length > 0;
    const shown = new Set(bodies.filter(({ media }) => hasExample(media)).map(({ name }) => name));
    const without = bodies.filter(({ name }) => !shown.has(name));
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  test('the day of the week says where it begins, wherever it stands', () => {
    const days = properties.filter(([where]) => where.endsWith('.day_of_week'));
    expect(days.length).toBeGreaterThan(1);
    for (const [where, schema] of days) expect([where, schema['description']]).toEqual([where, expect.stringContaining('0 = Monday')]);
  });

  test('a number whose name has no unit says its unit', () => {
    const units: Record<string, RegExp> = {
      expires_in: /second/i,
      bytes: /bytes/i,
      pass_rate: /from 0 to 1/,
      reached_share: /from 0 to 1/,
      failure_threshold: /from 0 to 1/,
      similarity: /-1 to 1/,
      calls_per_second: /second/,
      min_hours_between_calls: /hours/i,
      default_country: /ISO 3166-1/,
      timezone: /IANA/,
      turn_latency_ms: /milliseconds/i,
      latency_ms: /milliseconds/i,
    };
    for (const [where, schema] of properties) {
      const unit = units[where.split('.').at(-1)!];
      if (unit) expect([where, schema['description']]).toEqual([where, expect.stringMatching(unit)]);
    }
  });
});
