import { pathProblem } from '../../../library/json/paths.ts';

/** Signs of other languages in which people write paths, and what stands for them here. */
const rewritings: [what: string, pattern: RegExp, path: string | ((match: string, ...groups: string[]) => string)][] = [
  ['blanks around a name', /\[[^\]]*\]|^\s+|\s+$|\s+\.\s+/g, (found) => (found.startsWith('[') ? found : found.includes('.') ? '.' : '')],
  ['the braces of a template', /^\$\{\s*(?:(?:\$json\.)?body\.(?=[^\s|{}]))?([^|{}]*[^|{}\s])\s*\}$/, '$1'],
  ['the braces of a template', /^\{\{-?\s*(?:(?:\$json\.)?body\.(?=[^\s|{}]))?([^|{}]*[^|{}\s])\s*(?:\|[^{}]*)?-?\}\}$/, '$1'],
  ['the root of a template; a path begins in the body', /^(?:\$\.?)?webhook\.body(?:\.|(?=\[|$))/, ''],
  ['the root of a template of n8n; a path begins in the body', /^\$json(?:\.body\b)?(?:\.|(?=\[|$))/, ''],
  [
    'a filter of JSONPath',
    /\[\?\s*\(?\s*@\.?([^=<>!~&|\]()\s]+)\s*={1,3}\s*(["']?)([^"'&|\]]*?)\2\s*\)?\s*\]/g,
    (_filter, path, _quote, value) => `[${path}=${value}]`,
  ],
  ['a filter of JSONPath; only one item with a field that is equal to a value can be named', /\[\?[^\]]*\]/g, '[0]'],
  [
    'an index from the end; items are counted from the front, from 0',
    /\[-\d+\]|\.-\d+(?=[.[]|$)/g,
    (found) => (found.startsWith('[') ? '[0]' : '.0'),
  ],
  ['a $ that no dot follows', /^\$(?=[^.[])/, ''],
  [
    'the slashes of a JSON pointer',
    /^\/[^.]+$/,
    (pointer) => pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~'),
  ],
];

const wildcard = /\[[*#]?\]|\.[*#](?=\.|$)|\.\.(?=.)/g;
type Rewriting = (typeof rewritings)[number];
const namedItem: Rewriting = [
  'a wildcard; name one item, or let "split" make a run of each',
  wildcard,
  (sign) => (sign === '..' ? '.' : '.0'),
];
/** Lists on the way are opened without a sign. */
const openedList: Rewriting = ['a wildcard, which "split" needs not', wildcard, (sign) => (sign === '..' ? '.' : '')];

/** Why a path of a mapping never finds anything in a body, with the path that would; null: it may find something. */
export const mappingPathProblem = (text: string): string | null => findProblem(text, [...rewritings, namedItem]);

/** As `mappingPathProblem`, of the path of `split`. */
export const splitPathProblem = (text: string): string | null => findProblem(text, [...rewritings, openedList]);

function findProblem(text: string, all: Rewriting[]): string | null {
  let path = text;
  const signs: string[] = [];
  for (const [what, pattern, replacement] of all) {
    const next = path.replace(pattern, replacement as string);
    if (next !== path) signs.push(what);
    path = next;
  }
  if (signs.length === 0) return pathProblem(text);
  if (path === '') path = '$';
  const advice = pathProblem(path) === null ? `; write ${path}` : `; ${pathProblem(path)}`;
  return `"${text.slice(0, 100)}" can never match: it has ${signs.join(', and ')}${advice}`;
}
