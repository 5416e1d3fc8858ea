import { parse as parseLossless } from 'lossless-json';
import { cleanText, isClean } from '../text/clean-text.ts';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export const maxJsonDepth = 64;

/** A shorter run of digits is always a safe integer, so only longer ones need the slower parser. */
const longDigitRun = /\d{16}/;
const integer = /^-?\d+$/;
/** NUL and halves of surrogate pairs, as JSON escapes them. */
const illFormedEscape = /\\u(?:0000|d[89a-f])/i;

const parseNumber = (text: string): number | string => (integer.test(text) && !Number.isSafeInteger(Number(text)) ? text : Number(text));

/**
 * Parses JSON. Integers beyond 2^53 become strings, so that no digit is lost. For a repeated key the last value wins, as in JSON.parse. All
 * text in the value is cleaned (`cleanText`), so that input is cleaned only here. Throws SyntaxError for malformed text and for nesting
 * deeper than `maxJsonDepth`.
 */
export function parseJson(text: string): Json {
  const value = longDigitRun.test(text) ? parseWithLongIntegers(text) : (JSON.parse(text) as Json);
  if (isDeeperThan(value, maxJsonDepth)) throw tooDeepError();
  return isClean(text) && !illFormedEscape.test(text) ? value : cleanJson(value);
}

/** The value with every text and name cleaned. When two names become one, the last value wins. */
function cleanJson(value: Json): Json {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cleanJson);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [cleanText(name), cleanJson(inner)]));
}

function parseWithLongIntegers(text: string): Json {
  try {
    return parseLossless(text, undefined, { parseNumber, onDuplicateKey: ({ newValue }) => newValue }) as Json;
  } catch (error) {
    // The library recurses, so absurd nesting exhausts the stack before its depth can be counted.
    if (error instanceof RangeError) throw tooDeepError();
    throw error;
  }
}

const tooDeepError = () => new SyntaxError(`JSON is nested deeper than ${maxJsonDepth} levels; send a flatter document`);

export function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  const children = Array.isArray(value) ? value : Object.values(value);
  return children.some((child) => isDeeperThan(child, depth - 1));
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The parsed text; undefined for text that `parseJson` refuses. */
export function tryParseJson(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** The parsed text if it is a JSON object, else undefined. */
export function tryParseJsonObject(text: string): Record<string, unknown> | undefined {
  const value = tryParseJson(text);
  return isRecord(value) ? value : undefined;
}
