export type SchemaNode = Record<string, unknown>;

/** A value for a part of a schema, and whether the text has it. */
export interface Guess {
  value: unknown;
  isFound: boolean;
}

/** The words about a place in a schema: the property's name and description. */
export type Hint = string;

export const isNode = (value: unknown): value is SchemaNode => typeof value === 'object' && value !== null && !Array.isArray(value);

/** `node` with its reference followed and its `allOf` merged into it. */
export function resolve(node: SchemaNode, root: SchemaNode, depth = 0): SchemaNode {
  if (depth > 32) return {};
  const { $ref: reference, allOf, ...own } = node;
  let merged: SchemaNode = own;
  if (typeof reference === 'string') merged = merge(resolve(pointed(root, reference), root, depth + 1), merged);
  for (const part of Array.isArray(allOf) ? allOf : []) if (isNode(part)) merged = merge(resolve(part, root, depth + 1), merged);
  return merged;
}

function pointed(root: SchemaNode, reference: string): SchemaNode {
  const keys = decodeURIComponent(reference.replace(/^#\/?/, ''))
    .split('/')
    .filter((key) => key !== '')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const found = keys.reduce<unknown>((at, key) => (isNode(at) || Array.isArray(at) ? (at as SchemaNode)[key] : undefined), root);
  return isNode(found) ? found : {};
}

/** `over` wins, but properties and required ones of both count. */
export function merge(under: SchemaNode, over: SchemaNode): SchemaNode {
  const both = { ...under, ...over };
  if (isNode(under['properties']) && isNode(over['properties'])) both['properties'] = { ...under['properties'], ...over['properties'] };
  if (Array.isArray(under['required']) && Array.isArray(over['required']))
    both['required'] = [...new Set([...under['required'], ...over['required']])];
  return both;
}

/** The types that a schema allows, by `type` or by its other keywords. */
export function typesOf(node: SchemaNode): string[] {
  if (Array.isArray(node['type'])) return node['type'] as string[];
  if (typeof node['type'] === 'string') return [node['type']];
  const has = (...keywords: string[]) => keywords.some((keyword) => keyword in node);
  if (has('properties', 'required', 'additionalProperties')) return ['object'];
  if (has('items', 'minItems', 'maxItems', 'uniqueItems')) return ['array'];
  if (has('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf')) return ['number'];
  return ['string'];
}

export const hintOf = (name: string, node: SchemaNode): Hint =>
  `${name.replace(/[_-]+/g, ' ').replace(/(?<=[a-z])(?=[A-Z])/g, ' ')} ${typeof node['description'] === 'string' ? node['description'] : ''}`.trim();
