/** A value that does not fit. */
export interface Fault {
  path: string[];
  keyword: string;
  message: string;
}

/** The way to a value, from its end. */
export interface Way {
  key: string;
  before: Way | null;
}

export function pathOf(way: Way | null): string[] {
  const path: string[] = [];
  for (let step = way; step; step = step.before) path.unshift(step.key);
  return path;
}

const longestTold = 500;
const toldBefore = new WeakMap<object, string>();

/** A value of the schema as a message tells it. */
export function told(value: unknown): string {
  if (typeof value !== 'object' || value === null) return shorten(JSON.stringify(value));
  const text = toldBefore.get(value) ?? shorten(JSON.stringify(value));
  toldBefore.set(value, text);
  return text;
}

const shorten = (text: string): string => (text.length > longestTold ? `${text.slice(0, longestTold)}...` : text);
