import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDirectory } from '../../scripts/local/settings.ts';

/** A block of shell lines of a page, with the answers that the page shows below it. */
export interface Block {
  /** Of its first line, from 1. */
  line: number;
  code: string;
  answers: string[];
  /** Why it cannot run on a machine without accounts, from the comment before it, which a reader does not see; null: it can. */
  notTried: string | null;
}

export const docsPages = (): string[] => [
  'README.md',
  ...readdirSync(join(projectDirectory, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

export const readPage = (page: string): Block[] => readBlocks(readFileSync(join(projectDirectory, page), 'utf8'));

/** Reads the `sh` blocks. A block of `json` or without a language right after a block shows its answers. */
export function readBlocks(page: string): Block[] {
  const lines = page.split('\n');
  const blocks: Block[] = [];
  for (let index = 0; index < lines.length; index++) {
    const [, indent] = /^( *)```sh$/.exec(lines[index]!) ?? [];
    if (indent === undefined) continue;
    const code = fenced(lines, index, indent);
    const after = index + code.length + 2;
    const hasAnswers = lines[after] === `${indent}\`\`\`json` || lines[after] === `${indent}\`\`\``;
    blocks.push({
      line: index + 2,
      code: code.join('\n'),
      answers: hasAnswers ? fenced(lines, after, indent) : [],
      notTried: /<!-- not tried: (.+) -->/.exec(lines[index - 1] ?? '')?.[1] ?? null,
    });
    index = after - 1;
  }
  return blocks;
}

/** The lines between the fence at `open` and the one that closes it, without their indentation. */
function fenced(lines: string[], open: number, indent: string): string[] {
  const close = lines.indexOf(`${indent}\`\`\``, open + 1);
  return lines.slice(open + 1, close).map((line) => line.slice(indent.length));
}

/** What holds for a moment only, and may be over when the next request asks. */
const momentary = [
  /"(?:state|status|processing_status|call_status)":"(?:waiting|syncing|queued|running|pending)"/,
  /"waiting_for":/,
  /"current_node_id":/,
];

const isJson = (line: string): boolean => /^[{[]/.test(line);
const plain = (line: string): string =>
  line
    .replaceAll(/[\d.:TZ+-]*\d[\d.:TZ+-]*/g, '0')
    .replaceAll(/\s+/g, ' ')
    .trim();

/**
 * How a block's output differs from the answers that the page shows, in sentences. Of JSON each key that is shown must be there, and each
 * text without digits; an error only where one is shown. Other lines must be there, whatever their numbers are.
 */
export function findDifferences(answers: string[], output: string): string[] {
  const lines = output.replaceAll('\uFEFF', '').split('\n');
  const shown = answers.filter(isJson);
  const answered = lines.filter(isJson);
  if (answers.length === 0) return answered.filter((line) => line.startsWith('{"detail"')).map((line) => `answers ${line}`);
  const text = plain(lines.join(' '));
  const pieces = answers.filter((line) => !isJson(line)).flatMap((line) => line.split('...').map(plain));
  const missing = pieces.filter((piece) => !text.includes(piece)).map((piece) => `does not print ${JSON.stringify(piece)}`);
  if (shown.length !== answered.length)
    return [`shows ${shown.length} answers in JSON, and there are ${answered.length}:\n${output}`, ...missing];
  return [...shown.flatMap((line, index) => differencesOfJson(line, answered[index]!)), ...missing];
}

function differencesOfJson(shown: string, answered: string): string[] {
  const isError = answered.startsWith('{"detail"');
  if (isError !== shown.startsWith('{"detail"')) return [`shows ${shown.slice(0, 200)}, and the answer is ${answered.slice(0, 1000)}`];
  const keys = [...shown.matchAll(/"(\w+)":/g)].map(([key]) => key);
  const texts = [...shown.matchAll(/"\w+":"[^"\\\d]*"/g)].map(([pair]) => pair).filter((pair) => !pair.includes('...'));
  return [...keys, ...texts]
    .filter((part) => !answered.includes(part) && !momentary.some((pattern) => pattern.test(part)))
    .map((part) => `shows ${part}, which is not in ${answered.slice(0, 3000)}`);
}
