import { isRecord } from '../json.ts';
import { appliedInside, appliedToItself, dataKeywords, definitionKeywords } from './keywords.ts';

export type Schema = boolean | Record<string, unknown>;

/** A fault of a schema, at `path` inside the schema. */
export interface SchemaFault {
  path: string[];
  message: string;
}

/** An object inside the schema. Every object is treated as a schema, since a reference may lead to any. */
export interface SchemaNode {
  node: Record<string, unknown>;
  path: string[];
  /** Against which its references are resolved. */
  base: string;
}

export interface References {
  places: SchemaNode[];
  /** The target of each resolved `$ref`, by the object that contains the `$ref`. */
  targets: Map<object, Schema>;
  faults: SchemaFault[];
}

const origin = 'https://schema.invalid/';
const anchorForm = /^[A-Za-z_][-A-Za-z0-9._]*$/;
const schemaMapKeywords = new Set([...appliedToItself.named, ...appliedInside.named, ...definitionKeywords]);

/** Resolves the references of a JSON Schema 2020-12 within its document. Takes time in proportion to its size. */
export function resolveReferences(schema: Record<string, unknown>): References {
  const places: SchemaNode[] = [];
  const faults: SchemaFault[] = [];
  const names = new Map<string, Record<string, unknown>>([[origin, schema]]);
  const name = (uri: string, { node, path }: SchemaNode, keyword: string) => {
    if (names.has(uri) && names.get(uri) !== node)
      faults.push({ path: [...path, keyword], message: `"${String(node[keyword])}" is the name of another schema in this document, too` });
    else names.set(uri, node);
  };
  const visit = (node: unknown, path: string[], outer: string): void => {
    if (Array.isArray(node)) return node.forEach((item, index) => visit(item, [...path, String(index)], outer));
    if (!isRecord(node)) return;
    const { $id: id, $anchor: anchor } = node;
    const own = typeof id === 'string' ? resolveUri(id, outer) : outer;
    const place = { node, path, base: own ?? outer };
    places.push(place);
    if (own === null || own.includes('#'))
      faults.push({
        path: [...path, '$id'],
        message: `"${String(id)}" is no URI without fragment; write it like https://example.com/order`,
      });
    else if (typeof id === 'string') name(own, place, '$id');
    if (typeof anchor === 'string' && !anchorForm.test(anchor))
      faults.push({
        path: [...path, '$anchor'],
        message: `"${anchor}" is no name; use letters, digits, ".", "-" and "_", beginning with a letter`,
      });
    else if (typeof anchor === 'string') name(`${place.base}#${anchor}`, place, '$anchor');
    for (const [key, child] of Object.entries(node)) {
      if (dataKeywords.has(key)) continue;
      if (schemaMapKeywords.has(key) && isRecord(child))
        for (const [of, item] of Object.entries(child)) visit(item, [...path, key, of], place.base);
      else visit(child, [...path, key], place.base);
    }
  };
  visit(schema, [], origin);
  const targets = new Map<object, Schema>();
  for (const { node, path, base } of places) {
    const keyword = refKeyword(node);
    if (keyword === null) continue;
    const target = findTarget(node[keyword] as string, base, names);
    if (target !== null) targets.set(node, target);
    else
      faults.push({
        path: [...path, keyword],
        message: `"${String(node[keyword])}" leads to no schema in this document; use #/$defs/<name>`,
      });
  }
  return { places, targets, faults };
}

/** In older drafts, `$recursiveRef` refers to the whole schema. */
const refKeyword = (node: Record<string, unknown>) =>
  typeof node['$ref'] === 'string' ? '$ref' : node['$recursiveRef'] === '#' ? '$recursiveRef' : null;

function resolveUri(reference: string, base: string): string | null {
  if (!URL.canParse(reference, base)) return null;
  return new URL(reference, base).href.replace(/#$/, '');
}

function findTarget(reference: string, base: string, names: Map<string, Record<string, unknown>>): Schema | null {
  const uri = resolveUri(reference, base);
  if (uri === null) return null;
  const [resource, fragment = ''] = uri.split('#', 2) as [string, string?];
  if (!fragment.startsWith('/')) return names.get(uri) ?? null;
  let found: unknown = names.get(resource);
  for (const part of fragment.slice(1).split('/')) {
    const key = decodePointerPart(part);
    if (key === null || typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return null;
    found = (found as Record<string, unknown>)[key];
  }
  return typeof found === 'boolean' || isRecord(found) ? found : null;
}

function decodePointerPart(part: string): string | null {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return null;
  }
}
