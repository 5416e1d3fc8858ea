import { isRecord } from './json.ts';

/** The types of a JSON value without its values: the name of a type, an object of shapes, or a list with the shape of its first elements. */
export type JsonShape = string | JsonShape[] | { [key: string]: JsonShape };

const maxDepth = 5;
const maxKeys = 50;
const maxNodes = 500;
/** So many elements of a list are looked at. */
const maxElements = 20;

/**
 * Describes which keys and types a JSON value has, so that people see what a sender sends without seeing whom it is about. A list has one shape for
 * each kind of its first 20 elements. What is deeper than 5 levels, or beyond 50 keys of an object or 500 parts in all, is `...`.
 *
 * @example describeShape({ id: 7, tags: ['a'], customer: { name: 'Ada' } }) // { id: 'number', tags: ['string'], customer: { name: 'string' } }
 */
export function describeShape(value: unknown): JsonShape {
  let nodes = 0;
  const describe = (part: unknown, depth: number): JsonShape => {
    nodes += 1;
    if (part === null) return 'null';
    if (!Array.isArray(part) && !isRecord(part)) return typeof part;
    if (depth >= maxDepth || nodes >= maxNodes) return '...';
    if (Array.isArray(part)) {
      const shapes = part.slice(0, maxElements).map((element) => describe(element, depth + 1));
      return [...new Map(shapes.map((shape) => [JSON.stringify(shape), shape])).values()];
    }
    const keys = Object.keys(part);
    const shape: { [key: string]: JsonShape } = Object.fromEntries(
      keys.slice(0, maxKeys).map((key) => [key, describe((part as Record<string, unknown>)[key], depth + 1)]),
    );
    if (keys.length > maxKeys) shape['...'] = `${keys.length - maxKeys} more keys`;
    return shape;
  };
  return describe(value, 0);
}
