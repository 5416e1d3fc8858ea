import { RE2JS, RE2Set } from 're2js';
import { LRUCache } from 'lru-cache';
import { WorkBudget } from '../limits/work-budget.ts';
import { UnsupportedConstructError, translatePattern } from './translate.ts';

const maxPatternLength = 200;
/** The maximum number of RE2's instructions: `.{1,500}` has a thousand. */
const maxProgramSize = 2500;

/** A pattern that is not supported. The message names the pattern and says what to change. */
export class PatternError extends Error {}

/** Bytes of the states that one pattern may keep. More would be faster for few and dearer for many. */
const maxStateBytes = 64 * 1024;
const compileSteps = 500;

/** A regular expression from a caller, matched in time linear in the text for every expression. */
export class LinearPattern {
  static readonly #compiled = new LRUCache<string, LinearPattern>({
    max: 100,
    memoMethod: (pattern) => {
      const expression = toRe2Expression(pattern);
      return new LinearPattern(expression, measureProgram(expression, pattern));
    },
  });
  readonly #matcher: RE2Set;
  readonly #size: number;

  private constructor(expression: string, size: number) {
    // A set of one pattern, since only a set accepts a limit of its memory.
    this.#matcher = new RE2Set(RE2Set.UNANCHORED, 0, maxStateBytes);
    this.#matcher.add(expression);
    this.#matcher.compile();
    this.#size = size;
  }

  /** JavaScript's syntax with the flag `u`. Throws PatternError and OverBudgetError. */
  static compile(pattern: string, budget: WorkBudget): LinearPattern {
    const compiled = LinearPattern.#compiled.memo(pattern);
    budget.spend(compileSteps + compiled.#size);
    return compiled;
  }

  /** Whether the pattern matches a part of `text`. Throws OverBudgetError. */
  test(text: string, budget: WorkBudget): boolean {
    budget.spend(2 + (text.length * this.#size) / 16);
    return this.#matcher.match(text).length > 0;
  }
}

const patternError = (pattern: string, reason: string) => new PatternError(`Pattern ${JSON.stringify(shorten(pattern))} ${reason}`);

function toRe2Expression(pattern: string): string {
  if (pattern.length > maxPatternLength) throw patternError(pattern, `is longer than ${maxPatternLength} characters; shorten it`);
  try {
    void new RegExp(pattern, 'u');
  } catch (error) {
    throw patternError(pattern, `is not a regular expression: ${(error as Error).message}`);
  }
  try {
    return translatePattern(pattern);
  } catch (error) {
    if (error instanceof UnsupportedConstructError) throw patternError(pattern, error.message);
    throw error;
  }
}

function measureProgram(expression: string, pattern: string): number {
  let size: number;
  try {
    size = RE2JS.compile(expression).programSize();
  } catch (error) {
    const { message } = error as Error;
    if (message.includes('repeat count'))
      throw patternError(pattern, 'repeats something more than 1,000 times; repeat less, or bound the length by minLength and maxLength');
    throw patternError(pattern, `has a part that cannot be matched in one pass: ${message.replace('error parsing regexp: ', '')}`);
  }
  if (size > maxProgramSize) throw patternError(pattern, 'is too large once its repetitions are written out; repeat less');
  return size;
}

const shorten = (pattern: string): string => (pattern.length > 60 ? `${pattern.slice(0, 60)}...` : pattern);

/** The fault of a caller's regular expression, or null. */
export function patternProblem(pattern: string): string | null {
  try {
    LinearPattern.compile(pattern, new WorkBudget(Infinity, ''));
    return null;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}
