import { z } from 'zod';
import { isRecord } from './json.ts';
import { nearestName } from '../text/nearest-name.ts';

/** A part of a config that has no effect. `loc` is as in a 422. */
export interface Warning {
  loc: string[];
  msg: string;
}

type CollectWarnings = (value: unknown, loc: string[]) => Warning[];

/** The warnings of a schema besides those about unknown keys. `isSuggested`: a misspelt key may have meant this key. */
const schemaNotices = z.registry<{ warningsOf: CollectWarnings; isSuggested: boolean }>();

/** More than anybody reads; a body may hold a hundred thousand unknown keys. */
const maxWarnings = 100;

/**
 * An object of settings. Unknown keys stay in its output, so that they can be read again, and `collectWarnings` names them. The type has
 * only the known keys.
 * @example configObject({ max_retries: z.int() }).parse({ max_retries: 1, colour: 'red' }) // { max_retries: 1, colour: 'red' }
 */
export const configObject = <Shape extends z.ZodRawShape>(shape: Shape, message?: string): z.ZodObject<Shape> =>
  z.looseObject(shape, message) as unknown as z.ZodObject<Shape>;

/** Adds the warnings of other input without effect to a schema. Call it last: a copy of the schema loses the warnings. */
export function withWarnings<Schema extends z.ZodType>(schema: Schema, warnings: CollectWarnings): Schema {
  schemaNotices.add(schema, { warningsOf: warnings, isSuggested: true });
  return schema;
}

/**
 * A key that is accepted and has no effect. `why` is the warning about a value that would change something, unlike null, false or an empty
 * value.
 */
export const keyWithoutEffect = (why?: string): z.ZodOptional<z.ZodUnknown> =>
  z
    .unknown()
    .optional()
    .register(schemaNotices, {
      warningsOf: (value, loc) => (why === undefined || isBlank(value) ? [] : [{ loc, msg: why }]),
      isSuggested: false,
    });

const isBlank = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === false ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

const definitionOf = (schema: z.core.$ZodType): z.core.$ZodTypes['_zod']['def'] => (schema as z.ZodType).def as never;

/** Every part of `value` that has no effect, whether or not `schema` accepts `value`. */
export function collectWarnings(schema: z.ZodType, value: unknown, loc: string[]): Warning[] {
  const found: Warning[] = [];
  collect(schema, value, loc, found);
  return limitWarnings(found, loc);
}

/** The first hundred, and how many more there are. */
export function limitWarnings(found: Warning[], loc: string[]): Warning[] {
  if (found.length <= maxWarnings) return found;
  const msg = `${found.length - maxWarnings} more keys are not known and have no effect`;
  return [...found.slice(0, maxWarnings), { loc, msg }];
}

function collect(schema: z.core.$ZodType, value: unknown, loc: string[], found: Warning[]): void {
  const notice = schemaNotices.get(schema as never);
  if (notice) found.push(...notice.warningsOf(value, loc));
  const def = definitionOf(schema);
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
      return collect(def.innerType, value, loc, found);
    case 'pipe':
      return collect(def.in, value, loc, found);
    case 'array':
      if (Array.isArray(value)) for (const [index, item] of value.entries()) collect(def.element, item, [...loc, String(index)], found);
      return undefined;
    case 'record':
      if (isRecord(value)) for (const [key, item] of Object.entries(value)) collect(def.valueType, item, [...loc, key], found);
      return undefined;
    case 'union': {
      const option = selectOption(def, value);
      return option && collect(option, value, loc, found);
    }
    case 'object':
      return isRecord(value) ? collectFromKeys(def, value, loc, found) : undefined;
    default:
      return undefined;
  }
}

function collectFromKeys({ shape, catchall }: z.core.$ZodObjectDef, value: Record<string, unknown>, loc: string[], found: Warning[]): void {
  for (const [key, item] of Object.entries(value)) {
    const known = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (known) collect(known, item, [...loc, key], found);
    // Editors write null for fields that are not filled in.
    else if (item !== null && catchall && definitionOf(catchall).type === 'unknown')
      found.push({ loc: [...loc, key], msg: found.length < maxWarnings ? unknownKeyMessage(key, suggestedKeys(shape)) : '' });
  }
}

const suggestedKeys = (shape: z.core.$ZodShape): string[] =>
  Object.entries(shape).flatMap(([key, schema]) => (schemaNotices.get(schema as never)?.isSuggested === false ? [] : [key]));

const maxNamed = 12;
const maxShown = 100;

/** The warning about an unknown key. */
export function unknownKeyMessage(key: string, known: readonly string[]): string {
  const shown = key.length > maxShown ? `${key.slice(0, maxShown)}...` : key;
  const nearest = nearestName(key, known);
  if (nearest !== null) return `\`${shown}\` is not known and has no effect; did you mean \`${nearest}\`?`;
  const names = known.slice(0, maxNamed).map((name) => `\`${name}\``);
  const more = known.length > maxNamed ? ' ...' : '';
  return `\`${shown}\` is not known and has no effect${names.length > 0 ? `; known here: ${names.join(', ')}${more}` : ''}`;
}

/** The alternative of a union for a value: by the discriminator, else the first that accepts the value. */
function selectOption(def: z.core.$ZodUnionDef, value: unknown): z.core.$ZodType | undefined {
  const discriminator = 'discriminator' in def ? String(def.discriminator) : undefined;
  if (discriminator === undefined) return def.options.find((option) => z.safeParse(option, value).success);
  const named = isRecord(value) ? value[discriminator] : undefined;
  return def.options.find((option) => {
    const of = definitionOf(option);
    const name = of.type === 'object' ? of.shape[discriminator] : undefined;
    return name && z.safeParse(name, named).success;
  });
}
