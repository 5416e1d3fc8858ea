import { numbersFor, someNumber } from './number-answer.ts';
import { filterByType, guessBoolean, guessOption, findMentioned } from './option-answer.ts';
import { hintOf, isNode, merge, resolve, typesOf, type Guess, type Hint, type SchemaNode } from './schema-node.ts';
import { someText, textsFor } from './string-answer.ts';
import { readFacts, type TextFacts } from './text-facts.ts';

/** Beyond this depth, optional parts are left out. */
const fullDepth = 5;
const maxDepth = 32;

interface Source {
  root: SchemaNode;
  facts: TextFacts[];
}

/**
 * A JSON value that fits `schema`, with facts from `texts` (the first one counts most): names, days, numbers, mentioned options, yes and no.
 * A missing fact is null or left out where that is allowed, else the smallest value that fits. Of the keywords that strict schemas may
 * not have, `allOf`, `oneOf` and optional properties are followed, the others (`not`, `if`, `contains`, ...) are not.
 */
export function answerSchema(schema: SchemaNode, texts: readonly string[]): unknown {
  return guess({ root: schema, facts: texts.map(readFacts) }, schema, hintOf('', schema), 0).value;
}

function guess(source: Source, unresolved: unknown, hint: Hint, depth: number): Guess {
  if (!isNode(unresolved) || depth > maxDepth) return { value: null, isFound: false };
  const node = resolve(unresolved, source.root);
  if ('const' in node) return { value: node['const'], isFound: findMentioned(source.facts, [node['const']]).length > 0 };
  if (Array.isArray(node['enum'])) return guessOption(source.facts, filterByType(node['enum'], node));
  const branches = node['anyOf'] ?? node['oneOf'];
  if (Array.isArray(branches) && branches.length > 0) return guessBranch(source, node, branches.filter(isNode), hint, depth);
  const types = typesOf(node);
  const guesses = types.filter((type) => type !== 'null').map((type) => guessType(source, node, type, hint, depth));
  const found = guesses.find(({ isFound }) => isFound);
  if (found) return found;
  return types.includes('null') ? { value: null, isFound: false } : (guesses[0] ?? { value: null, isFound: false });
}

function guessBranch(source: Source, node: SchemaNode, branches: SchemaNode[], hint: Hint, depth: number): Guess {
  const { anyOf: _anyOf, oneOf: _oneOf, ...shared } = node;
  const guesses = branches.map((branch) => guess(source, merge(shared, resolve(branch, source.root)), hint, depth + 1));
  const found = guesses.find(({ value, isFound }) => isFound && value !== null);
  return found ?? guesses.find(({ value }) => value === null) ?? guesses[0] ?? { value: null, isFound: false };
}

function guessType(source: Source, node: SchemaNode, type: string, hint: Hint, depth: number): Guess {
  if (type === 'object') return guessObject(source, node, depth);
  if (type === 'array') return guessArray(source, node, hint, depth);
  if (type === 'boolean') return guessBoolean(source.facts, hint);
  if (type === 'number' || type === 'integer') {
    const [value] = numbersFor(source.facts, node, type, hint);
    return { value: value ?? someNumber(node, type), isFound: value !== undefined };
  }
  const [value] = textsFor(source.facts, node, hint);
  return { value: value ?? someText(source.facts, node), isFound: value !== undefined };
}

function guessObject(source: Source, node: SchemaNode, depth: number): Guess {
  const required = Array.isArray(node['required']) ? (node['required'] as string[]) : [];
  const properties = isNode(node['properties']) ? node['properties'] : {};
  const names = [...new Set([...Object.keys(properties), ...required])];
  const guesses = names
    .map((name) => {
      const property = properties[name] ?? { type: 'string' };
      const { value, isFound } = guess(source, property, hintOf(name, isNode(property) ? resolve(property, source.root) : {}), depth + 1);
      return { name, value, isFound };
    })
    .filter(({ name, isFound }) => required.includes(name) || (isFound && depth < fullDepth));
  return { value: Object.fromEntries(guesses.map(({ name, value }) => [name, value])), isFound: guesses.some(({ isFound }) => isFound) };
}

function guessArray(source: Source, node: SchemaNode, hint: Hint, depth: number): Guess {
  const least = Number(node['minItems'] ?? 0);
  const most = Number(node['maxItems'] ?? Math.max(least, 20));
  const items = isNode(node['items']) ? resolve(node['items'], source.root) : { type: 'string' };
  const found = depth < fullDepth ? everyItem(source, items, hint, depth) : [];
  const kept = found.slice(0, most);
  while (kept.length < least) kept.push(filler(source, items, hint, depth, kept, node['uniqueItems'] === true));
  return { value: kept, isFound: found.length > 0 };
}

/** All such items of the texts, without repeats. */
function everyItem(source: Source, items: SchemaNode, hint: Hint, depth: number): unknown[] {
  if (Array.isArray(items['enum'])) return findMentioned(source.facts, filterByType(items['enum'], items));
  const type = typesOf(items).find((one) => one !== 'null') ?? 'null';
  if (!('const' in items) && !('anyOf' in items) && !('oneOf' in items)) {
    if (type === 'string') return textsFor(source.facts, items, hint);
    if (type === 'number' || type === 'integer') return numbersFor(source.facts, items, type, hint);
  }
  const one = guess(source, items, hint, depth + 1);
  return one.isFound ? [one.value] : [];
}

/** A further item up to `minItems`. If all items must differ, it is a new one. */
function filler(source: Source, items: SchemaNode, hint: Hint, depth: number, kept: unknown[], mustDiffer: boolean): unknown {
  const { value } = guess(source, items, hint, depth + 1);
  const isThere = (candidate: unknown) => kept.some((item) => JSON.stringify(item) === JSON.stringify(candidate));
  if (!mustDiffer || !isThere(value)) return value;
  const options = Array.isArray(items['enum']) ? items['enum'] : typesOf(items).includes('boolean') ? [true, false] : [];
  const free = options.find((option) => !isThere(option));
  if (free !== undefined) return free;
  for (let step = 1; step < 1000; step++) {
    const candidate = typeof value === 'number' ? value + step * Number(items['multipleOf'] ?? 1) : `${String(value)} ${step}`;
    if (!isThere(candidate)) return candidate;
  }
  return value;
}
