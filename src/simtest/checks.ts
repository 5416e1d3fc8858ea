import { isDeepStrictEqual } from 'node:util';
import { isRecord, type Json } from '../library/json.ts';
import { compare } from './comparisons.ts';
import type { Check } from './config.ts';
import type { CalledTool, CheckResult, Speaker, TestTurn } from './contract.ts';
import { withoutStackedMarks } from '../library/stacked-marks.ts';

/** What one side's talk is known to have led to. */
export interface SideEvidence {
  /** In the order of their first visit. */
  nodes: { id: string; name: string }[];
  tools: CalledTool[];
  disposition: string | null;
  extracted: Record<string, Json>;
  /** Why the last two are not known, as the end of a sentence; null: they are. */
  unknownBecause: string | null;
}

export interface Evidence extends Record<Speaker, SideEvidence> {
  turns: readonly TestTurn[];
}

/** Checks that are told without asking the language model. */
export type PlainCheck = Exclude<Check, { type: 'judge' }>;
export type JudgeCheck = Extract<Check, { type: 'judge' }>;

/** Of a check that nobody can tell. */
export const untold = ({ name, required }: Check, because: string): CheckResult => ({
  name,
  required,
  passed: null,
  detail: `it is not known: ${because}`,
});

type Told = Pick<CheckResult, 'passed' | 'detail'>;

/** Whether a check holds, with a sentence that tells what was seen. */
export function tellCheck(check: PlainCheck, evidence: Evidence): CheckResult {
  return { name: check.name, required: check.required, ...told(check, evidence) };
}

function told(check: PlainCheck, evidence: Evidence): Told {
  switch (check.type) {
    case 'reached_node':
      return reachedNode(check, evidence[check.speaker]);
    case 'disposition':
      return disposition(check, evidence[check.speaker]);
    case 'extracted':
      return extracted(check, evidence[check.speaker]);
    case 'contains':
    case 'not_contains':
      return contains(check, evidence.turns);
    case 'tool_called':
      return toolCalled(check, evidence[check.speaker]);
    case 'max_turns':
      return { passed: evidence.turns.length <= check.value, detail: `there were ${countOf(evidence.turns.length, 'turn')}` };
  }
}

type Of<Type extends PlainCheck['type']> = Extract<PlainCheck, { type: Type }>;

function reachedNode({ node }: Of<'reached_node'>, { nodes }: SideEvidence): Told {
  const passed = nodes.some(({ id, name }) => id === node || name === node);
  return { passed, detail: `${passed ? 'reached' : 'not reached'}; came through: ${listOf(nodes.map(({ name }) => name))}` };
}

function disposition({ value }: Of<'disposition'>, { disposition: was, unknownBecause }: SideEvidence): Told {
  if (unknownBecause !== null) return { passed: null, detail: `the disposition is not known: ${unknownBecause}` };
  if (was === null) return { passed: false, detail: 'there was no disposition, since nothing was said to this side' };
  return { passed: [value].flat().includes(was), detail: `the disposition was "${was}"` };
}

function extracted({ variable, comparator, value }: Of<'extracted'>, { extracted: values, unknownBecause }: SideEvidence): Told {
  if (unknownBecause !== null) return { passed: null, detail: `${variable} is not known: ${unknownBecause}` };
  const found = Object.hasOwn(values, variable) ? values[variable] : null;
  if (found === null || found === undefined) return { passed: false, detail: `${variable} was not extracted` };
  const compared = compare(found, comparator, value ?? null);
  const problem = 'problem' in compared ? `, and ${compared.problem}` : '';
  return { passed: 'holds' in compared && compared.holds, detail: `${variable} was ${shortened(JSON.stringify(found))}${problem}` };
}

function contains({ type, value, speaker }: Of<'contains'> | Of<'not_contains'>, turns: readonly TestTurn[]): Told {
  const sought = folded(value);
  const turn = turns.find((one) => (speaker === 'any' || one.speaker === speaker) && folded(one.text).includes(sought));
  return { passed: (turn !== undefined) === (type === 'contains'), detail: turn ? `said in turn ${turn.number}` : 'not said' };
}

function toolCalled({ tool, arguments: expected }: Of<'tool_called'>, { tools }: SideEvidence): Told {
  const calls = tools.filter(({ name }) => name === tool);
  if (calls.length === 0) return { passed: false, detail: `not called; called: ${listOf([...new Set(tools.map(({ name }) => name))])}` };
  if (expected === undefined) return { passed: true, detail: `called ${countOf(calls.length, 'time')}` };
  const match = calls.find((call) => hasAll(call.arguments, expected));
  if (match) return { passed: true, detail: `called with ${shortened(JSON.stringify(match.arguments))}` };
  return {
    passed: false,
    detail: `called with other arguments: ${shortened(calls.map((call) => JSON.stringify(call.arguments)).join(', '))}`,
  };
}

/** Whether all of `expected` is in `found`; lists must be the same. */
function hasAll(found: unknown, expected: unknown): boolean {
  if (!isRecord(expected)) return isDeepStrictEqual(found, expected);
  return isRecord(found) && Object.entries(expected).every(([key, value]) => Object.hasOwn(found, key) && hasAll(found[key], value));
}

/** Without case, and however letters with marks are written. */
const folded = (text: string): string => withoutStackedMarks(text).normalize('NFC').toLowerCase();

const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const listOf = (names: string[]): string => (names.length > 0 ? names.join(', ') : 'none');

const longestValue = 200;

const shortened = (text: string): string => (text.length > longestValue ? `${text.slice(0, longestValue).toWellFormed()}...` : text);
