import { isRecord } from '../../library/json/json.ts';

const plainKeywords = ['type', 'title', 'description', 'enum', 'const', '$ref', 'required', 'minItems', 'maxItems', 'multipleOf'];
const boundKeywords = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];
const structureKeywords = ['properties', 'additionalProperties', 'items', 'anyOf', '$defs', 'definitions', 'format', 'pattern'];
const supportedKeywords = new Set([...plainKeywords, ...boundKeywords, ...structureKeywords, '$schema']);
const supportedFormats = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']);
const maxDepth = 10;

/**
 * Whether OpenAI's strict mode accepts a schema, which makes every answer fit: the root is an object, every object is closed and requires
 * all of its properties, and only the listed keywords occur
 * (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas). In doubt false: without strict mode the answer is
 * validated here.
 */
export const isStrictSchema = (schema: Record<string, unknown>): boolean =>
  schema['type'] === 'object' && !('anyOf' in schema) && isStrict(schema, 0);

function isStrict(node: unknown, depth: number): boolean {
  if (!isRecord(node) || depth > maxDepth || Object.keys(node).some((keyword) => !supportedKeywords.has(keyword))) return false;
  if (!['type', 'enum', 'const', '$ref', 'anyOf'].some((keyword) => keyword in node)) return false;
  if (typeof node['format'] === 'string' && !supportedFormats.has(node['format'])) return false;
  // Lookarounds are not supported.
  if (typeof node['pattern'] === 'string' && /\(\?(?!:)/.test(node['pattern'])) return false;
  if (allows(node, 'object') && !isClosed(node)) return false;
  if (allows(node, 'array') && !isRecord(node['items'])) return false;
  return childSchemas(node).every((child) => isStrict(child, depth + 1));
}

const allows = (node: Record<string, unknown>, type: string): boolean => [node['type']].flat().includes(type);

function isClosed(node: Record<string, unknown>): boolean {
  if (node['additionalProperties'] !== false) return false;
  const properties = Object.keys(isRecord(node['properties']) ? node['properties'] : {});
  const required = Array.isArray(node['required']) ? node['required'] : [];
  return properties.length === new Set(required).size && properties.every((name) => required.includes(name));
}

const childSchemas = (node: Record<string, unknown>): unknown[] => [
  ...['properties', '$defs', 'definitions'].flatMap((keyword) => Object.values(isRecord(node[keyword]) ? node[keyword] : {})),
  ...('items' in node ? [node['items']] : []),
  ...(Array.isArray(node['anyOf']) ? node['anyOf'] : []),
];
