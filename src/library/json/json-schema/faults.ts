/** A value that does not fit. */
export interface Fault {
  path: string[];
  keyword: string;
  message: string;
}

/** The way to a value, from its end. */
export interface PathNode {
  key: string;
  parent: PathNode | null;
}

export function toPath(way: PathNode | null): string[] {
  const path: string[] = [];
  for (let step = way; step; step = step.parent) path.unshift(step.key);
  return path;
}

const maxQuotedLength = 500;
const quotedValues = new WeakMap<object, string>();

/** A value of the schema in the form of messages. */
export function quoteValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return shorten(JSON.stringify(value));
  const text = quotedValues.get(value) ?? shorten(JSON.stringify(value));
  quotedValues.set(value, text);
  return text;
}

const shorten = (text: string): string => (text.length > maxQuotedLength ? `${text.slice(0, maxQuotedLength)}...` : text);
