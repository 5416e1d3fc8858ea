import type { z } from 'zod';
import type { Issue } from '../errors.ts';

/**
 * The problems of a failed parse as 422 issues below `prefix`. An unknown key is an issue of its own, named in `loc`. For a union, the
 * issues are those of the alternative that came furthest.
 */
export function toIssues(error: Pick<z.ZodError, 'issues'>, prefix: readonly string[] = []): Issue[] {
  return error.issues.flatMap((issue): Issue[] => {
    const loc = [...prefix, ...issue.path.map(String)];
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({ loc: [...loc, key], msg: `Unknown field "${key}"`, type: 'unrecognized_key' }));
    if (issue.code === 'invalid_union') {
      const furthest = issue.errors.toSorted((a, b) => depthOf(b) - depthOf(a) || a.length - b.length)[0] ?? [];
      if (depthOf(furthest) > 0) return toIssues({ issues: furthest }, loc);
    }
    return [{ loc, msg: toMessage(issue), type: issue.code }];
  });
}

/** The library speaks of a missing field as of a value of type undefined. */
const toMessage = (issue: z.core.$ZodIssue): string =>
  issue.code === 'invalid_type' && issue.message.endsWith('received undefined')
    ? `Is missing; give ${article(issue.expected)}`
    : issue.message;

const article = (type: string): string => `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`;

const depthOf = (issues: readonly { path: PropertyKey[] }[]): number => Math.max(0, ...issues.map((issue) => issue.path.length));
