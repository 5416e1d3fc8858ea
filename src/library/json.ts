import { parse as parseLossless } from 'lossless-json';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export const maximumJsonDepth = 64;

/** A shorter run of digits is always a safe integer, so only longer ones need the slower parser. */
const longDigitRun = /\d{16}/;
const integer = /^-?\d+$/;

const parseNumber = (text: string): number | string => (integer.test(text) && !Number.isSafeInteger(Number(text)) ? text : Number(text));

/**
 * JSON in which integers beyond 2^53 arrive unharmed, as strings; of a repeated key the last value wins, as in JSON.parse.
 * Throws SyntaxError for malformed text and for nesting deeper than `maximumJsonDepth`.
 */
export function parseJson(text: string): Json {
  const value = longDigitRun.test(text) ? parseWithLongIntegers(text) : (JSON.parse(text) as Json);
  if (isDeeperThan(value, maximumJsonDepth)) throw tooDeep();
  return value;
}

function parseWithLongIntegers(text: string): Json {
  try {
    return parseLossless(text, undefined, { parseNumber, onDuplicateKey: ({ newValue }) => newValue }) as Json;
  } catch (error) {
    // The library recurses, so absurd nesting exhausts the stack before its depth can be counted.
    if (error instanceof RangeError) throw tooDeep();
    throw error;
  }
}

const tooDeep = () => new SyntaxError(`JSON is nested deeper than ${maximumJsonDepth} levels; send a flatter document`);

export function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  const children = Array.isArray(value) ? value : Object.values(value);
  return children.some((child) => isDeeperThan(child, depth - 1));
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
