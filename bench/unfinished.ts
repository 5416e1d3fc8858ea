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
function readUnfinished(commit: string): Unfinished {
  try {
    const unfinished = JSON.parse(readFileSync(file, 'utf8')) as Unfinished;
    if (unfinished.commit === commit) return unfinished;
  } catch {
    // There is none.
  }
  return { commit, seconds: 0, cases: {} };
}

/** Of a run that began at `startedAt` (of `performance`). `isKept`: its cases are written as they end. `goesOn`: with those of a run before it. */
export function startProgress(commit: string, startedAt: number, { isKept, goesOn }: { isKept: boolean; goesOn: boolean }) {
  const before: Unfinished = isKept && goesOn ? readUnfinished(commit) : { commit, seconds: 0, cases: {} };
  const cases = { ...before.cases };
  const seconds = () => before.seconds + (performance.now() - startedAt) / 1000;
  const keep = (name: string, found: Partial<Findings>) => {
    cases[name] = found;
    if (isKept) writeFileSync(file, JSON.stringify({ commit, seconds: seconds(), cases } satisfies Unfinished));
  };
  return { known: before.cases, keep, seconds };
}

export const removeUnfinished = (): void => rmSync(file, { force: true });
