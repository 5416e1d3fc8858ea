import { isRecord } from './json.ts';

/** A key, an array index as digits, or "the first item whose field at `path` is `equals`". */
export type PathSegment = string | { path: string[]; equals: string };

const maxPathLength = 500;
const segmentPattern = /\.?([^.[\]]+)|\.?\[(\d+)\]|\.?\["([^"]+)"\]|\.?\['([^']+)'\]|\.?\[([^=[\]"']+)=([^[\]]*)\]/y;

/**
 * Reads a path into JSON: `customer.phone`, `items.0.sku` or `items[0].sku`, `fields["a.b"]`, `answers[field.ref=phone].phone_number`;
 * a leading `$.` is allowed, `$` alone is the whole document. Throws RangeError for anything else.
 */
export function parsePath(text: string): PathSegment[] {
  if (text.length > maxPathLength) throw new RangeError(`path is longer than ${maxPathLength} characters`);
  const segments: PathSegment[] = [];
  segmentPattern.lastIndex = /^\$(?=$|[.[])/.test(text) ? 1 : 0;
  if (text.length === 0 || (segmentPattern.lastIndex === 0 && text.startsWith('.'))) throw malformedPathError(text);
  while (segmentPattern.lastIndex < text.length) {
    const match = segmentPattern.exec(text);
    if (!match) throw malformedPathError(text);
    const [, name, index, doubleQuoted, singleQuoted, findPath, findValue] = match;
    if (findPath !== undefined) segments.push({ path: findPath.split('.'), equals: findValue ?? '' });
    else segments.push(name ?? index ?? doubleQuoted ?? singleQuoted ?? '');
  }
  return segments;
}

const malformedPathError = (text: string) =>
  new RangeError(`"${text}" is not a path; write it like customer.phone, items.0.sku, items[0].sku or answers[field.ref=phone].text`);

/** The fault of `text` as a path, or null. */
export function pathProblem(text: string): string | null {
  try {
    parsePath(text);
    return null;
  } catch (error) {
    return (error as RangeError).message;
  }
}

/** The value at `path`; undefined when there is none. Only own properties are read, not those of a prototype. */
export function readPath(document: unknown, path: string | readonly PathSegment[]): unknown {
  let value = document;
  for (const segment of typeof path === 'string' ? parsePath(path) : path) {
    if (typeof segment === 'string') value = ownProperty(value, segment);
    else value = Array.isArray(value) ? value.find((item) => isScalarText(readPath(item, segment.path), segment.equals)) : undefined;
    if (value === undefined) return undefined;
  }
  return value;
}

const ownProperty = (value: unknown, key: string): unknown =>
  (isRecord(value) || Array.isArray(value)) && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;

const isScalarText = (value: unknown, text: string): boolean => typeof value !== 'object' && value !== undefined && String(value) === text;
