/** A command that draws or places paths, and its numbers. `do`: draws the object of this name. */
export type PathCommand =
  | { kind: 'save' | 'restore' | 'close' | 'stroke' | 'fill' | 'end' }
  | { kind: 'transform'; numbers: number[] }
  | { kind: 'move' | 'line' | 'rectangle'; numbers: number[] }
  | { kind: 'do'; name: string };

/** The maximum of commands that are kept of a stream, and of its characters; a page with more is a drawing. */
const maxCommands = 20_000;
const maxCharacters = 4 << 20;

const tokens = /\((?:\\[\s\S]|[^\\()]){0,4000}\)|<[\da-fA-F\s]*>|\/[^\s\0()[\]<>{}/%]*|[-+]?(?:\d+\.?\d*|\.\d+)|[A-Za-z'"][A-Za-z\d'"*]*/g;

/** The operators, their numbers, and what they do in order. A curve only moves the pen. */
const operators: Record<string, { numbers: number; kinds: PathCommand['kind'][] }> = {
  q: { numbers: 0, kinds: ['save'] },
  Q: { numbers: 0, kinds: ['restore'] },
  cm: { numbers: 6, kinds: ['transform'] },
  m: { numbers: 2, kinds: ['move'] },
  l: { numbers: 2, kinds: ['line'] },
  c: { numbers: 2, kinds: ['move'] },
  v: { numbers: 2, kinds: ['move'] },
  y: { numbers: 2, kinds: ['move'] },
  re: { numbers: 4, kinds: ['rectangle'] },
  h: { numbers: 0, kinds: ['close'] },
  S: { numbers: 0, kinds: ['stroke'] },
  s: { numbers: 0, kinds: ['close', 'stroke'] },
  f: { numbers: 0, kinds: ['fill'] },
  F: { numbers: 0, kinds: ['fill'] },
  'f*': { numbers: 0, kinds: ['fill'] },
  B: { numbers: 0, kinds: ['stroke'] },
  'B*': { numbers: 0, kinds: ['stroke'] },
  b: { numbers: 0, kinds: ['close', 'stroke'] },
  'b*': { numbers: 0, kinds: ['close', 'stroke'] },
  n: { numbers: 0, kinds: ['end'] },
};

/** The path commands of an unpacked stream, in order. Undefined: too many for a page of text. */
export function parseDrawnPaths(text: string): PathCommand[] | undefined {
  if (text.length > maxCharacters) return undefined;
  if (!/\b(?:re|l|Do)\b/.test(text)) return [];
  const commands: PathCommand[] = [];
  let numbers: number[] = [];
  let name = '';
  for (const { 0: token } of text.matchAll(tokens)) {
    const first = token.charAt(0);
    if (first === '/') name = token.slice(1);
    else if (/[-+.\d]/.test(first)) numbers.push(Number(token));
    else if (first !== '(' && first !== '<') {
      if (token === 'Do') commands.push({ kind: 'do', name });
      const operator = operators[token];
      if (operator) commands.push(...toCommands(operator, numbers));
      if (commands.length > maxCommands) return undefined;
      numbers = [];
    }
  }
  return commands;
}

function toCommands(operator: { numbers: number; kinds: PathCommand['kind'][] }, numbers: number[]): PathCommand[] {
  if (numbers.length < operator.numbers) return [];
  const own = operator.numbers === 0 ? [] : numbers.slice(-operator.numbers);
  return operator.kinds.map((kind) => ({ kind, numbers: own }) as PathCommand);
}
