import { isDeepStrictEqual } from 'node:util';
import { isRecord, type Json } from '../../library/json/json.ts';
import { compare } from './comparisons.ts';
import type { Check } from '../config/config.ts';
import type { CalledTool, CheckResult, Speaker, TestTurn } from '../contract.ts';
import { limitCombiningMarks } from '../../library/text/clean-text.ts';

/** The evidence of one side's conversation. */
export interface SideEvidence {
  /** In the order of their first visit. */
  nodes: { id: string; name: string }[];
  tools: CalledTool[];
  disposition: string | null;
  extracted: Record<string, Json>;
  /** Why `disposition` and `extracted` are unknown, as the end of a sentence; null: they are known. */
  unknownReason: string | null;
}

export interface Evidence extends Record<Speaker, SideEvidence> {
  turns: readonly TestTurn[];
}

/** Checks that need no language model. */
export type PlainCheck = Exclude<Check, { type: 'judge' }>;
export type JudgeCheck = Extract<Check, { type: 'judge' }>;

/** The result of a check that cannot be evaluated. */
export const toUnknownResult = ({ name, required }: Check, reason: string): CheckResult => ({
  name,
  required,
  passed: null,
  detail: `it is not known: ${reason}`,
});

type CheckVerdict = Pick<CheckResult, 'passed' | 'detail'>;

/** Evaluates a check. `detail` is a sentence about what was found. */
export function evaluateCheck(check: PlainCheck, evidence: Evidence): CheckResult {
  return { name: check.name, required: check.required, ...evaluate(check, evidence) };
}

function evaluate(check: PlainCheck, evidence: Evidence): CheckVerdict {
  switch (check.type) {
    case 'reached_node':
      return checkReachedNode(check, evidence[check.speaker]);
    case 'disposition':
      return checkDisposition(check, evidence[check.speaker]);
    case 'extracted':
      return checkExtracted(check, evidence[check.speaker]);
    case 'contains':
    case 'not_contains':
      return checkContains(check, evidence.turns);
    case 'tool_called':
      return checkToolCalled(check, evidence[check.speaker]);
    case 'max_turns':
      return { passed: evidence.turns.length <= check.value, detail: `there were ${pluralize(evidence.turns.length, 'turn')}` };
  }
}

type CheckOfType<Type extends PlainCheck['type']> = Extract<PlainCheck, { type: Type }>;

function checkReachedNode({ node }: CheckOfType<'reached_node'>, { nodes }: SideEvidence): CheckVerdict {
  const passed = nodes.some(({ id, name }) => id === node || name === node);
  return { passed, detail: `${passed ? 'reached' : 'not reached'}; came through: ${joinNames(nodes.map(({ name }) => name))}` };
}

function checkDisposition({ value }: CheckOfType<'disposition'>, { disposition, unknownReason }: SideEvidence): CheckVerdict {
  if (unknownReason !== null) return { passed: null, detail: `the disposition is not known: ${unknownReason}` };
  if (disposition === null) return { passed: false, detail: 'there was no disposition, since nothing was said to this side' };
  return { passed: [value].flat().includes(disposition), detail: `the disposition was "${disposition}"` };
}

function checkExtracted(
  { variable, comparator, value }: CheckOfType<'extracted'>,
  { extracted: values, unknownReason }: SideEvidence,
): CheckVerdict {
  if (unknownReason !== null) return { passed: null, detail: `${variable} is not known: ${unknownReason}` };
  const found = Object.hasOwn(values, variable) ? values[variable] : null;
  if (found === null || found === undefined) return { passed: false, detail: `${variable} was not extracted` };
  const compared = compare(found, comparator, value ?? null);
  const problem = 'problem' in compared ? `, and ${compared.problem}` : '';
  return { passed: 'holds' in compared && compared.holds, detail: `${variable} was ${truncate(JSON.stringify(found))}${problem}` };
}

function checkContains(
  { type, value, speaker }: CheckOfType<'contains'> | CheckOfType<'not_contains'>,
  turns: readonly TestTurn[],
): CheckVerdict {
  const sought = normalizeText(value);
  const turn = turns.find((one) => (speaker === 'any' || one.speaker === speaker) && normalizeText(one.text).includes(sought));
  return { passed: (turn !== undefined) === (type === 'contains'), detail: turn ? `said in turn ${turn.number}` : 'not said' };
}

function checkToolCalled({ tool, arguments: expected }: CheckOfType<'tool_called'>, { tools }: SideEvidence): CheckVerdict {
  const calls = tools.filter(({ name }) => name === tool);
  if (calls.length === 0) return { passed: false, detail: `not called; called: ${joinNames([...new Set(tools.map(({ name }) => name))])}` };
  if (expected === undefined) return { passed: true, detail: `called ${pluralize(calls.length, 'time')}` };
  const match = calls.find((call) => includesAll(call.arguments, expected));
  if (match) return { passed: true, detail: `called with ${truncate(JSON.stringify(match.arguments))}` };
  return {
    passed: false,
    detail: `called with other arguments: ${truncate(calls.map((call) => JSON.stringify(call.arguments)).join(', '))}`,
  };
}

/** Whether all of `expected` is in `found`; lists must be the same. */
function includesAll(found: unknown, expected: unknown): boolean {
  if (!isRecord(expected)) return isDeepStrictEqual(found, expected);
  return isRecord(found) && Object.entries(expected).every(([key, value]) => Object.hasOwn(found, key) && includesAll(found[key], value));
}

/** Text without case, with one spelling of letters with marks. */
const normalizeText = (text: string): string => limitCombiningMarks(text).normalize('NFC').toLowerCase();

const pluralize = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const joinNames = (names: string[]): string => (names.length > 0 ? names.join(', ') : 'none');

const maxValueLength = 200;

const truncate = (text: string): string => (text.length > maxValueLength ? `${text.slice(0, maxValueLength).toWellFormed()}...` : text);
