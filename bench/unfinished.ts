import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDirectory } from '../scripts/local/settings.ts';
import type { Findings } from './cases.ts';

/** What a whole run has found case by case, until its report is written: a run takes long, and may be ended on the way. Not committed. */
const file = join(projectDirectory, 'bench', 'results', 'unfinished.json');

interface Unfinished {
  commit: string;
  seconds: number;
  cases: Record<string, Partial<Findings>>;
}

/** The cases of a run of the same code that did not end. */
export function readUnfinished(commit: string): Unfinished {
  try {
    const unfinished = JSON.parse(readFileSync(file, 'utf8')) as Unfinished;
    if (unfinished.commit === commit) return unfinished;
  } catch {
    // There is none.
  }
  return { commit, seconds: 0, cases: {} };
}

export const writeUnfinished = (unfinished: Unfinished): void => writeFileSync(file, JSON.stringify(unfinished));

export const removeUnfinished = (): void => rmSync(file, { force: true });
