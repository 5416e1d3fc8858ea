import type { Hint, SchemaNode } from './schema-node.ts';
import type { TextFacts } from './text-facts.ts';
import { toStem, toTopic } from './words.ts';

interface Bounds {
  least: number;
  most: number;
  isLeastOut: boolean;
  isMostOut: boolean;
  step: number | null;
}

const boundsOf = (node: SchemaNode, type: string): Bounds => {
  const number = (keyword: string): number | undefined => (typeof node[keyword] === 'number' ? node[keyword] : undefined);
  const [minimum = -Infinity, above = -Infinity, maximum = Infinity, below = Infinity] = [
    number('minimum'),
    number('exclusiveMinimum'),
    number('maximum'),
    number('exclusiveMaximum'),
  ];
  return {
    least: Math.max(minimum, above),
    most: Math.min(maximum, below),
    isLeastOut: above >= minimum && above !== -Infinity,
    isMostOut: below <= maximum && below !== Infinity,
    step: number('multipleOf') ?? (type === 'integer' ? 1 : null),
  };
};

function fits(value: number, { least, most, isLeastOut, isMostOut, step }: Bounds, type: string): boolean {
  if (value < least || value > most || (isLeastOut && value === least) || (isMostOut && value === most)) return false;
  return (type !== 'integer' || Number.isInteger(value)) && (step === null || Number.isInteger(value / step));
}

/** The numbers of the texts that fit, those first that stand nearest to a word of `hint`. */
export function numbersFor(facts: readonly TextFacts[], node: SchemaNode, type: string, hint: Hint): number[] {
  const bounds = boundsOf(node, type);
  const wanted = toTopic(hint);
  const sorted = facts.flatMap(({ text, numbers }) => {
    const places = [...text.matchAll(/[\p{L}\p{N}]+/gu)]
      .filter(([word]) => wanted.has(toStem(word.toLowerCase())))
      .map(({ index }) => index);
    const distance = (at: number) => Math.min(Infinity, ...places.map((place) => Math.abs(place - at)));
    return numbers.toSorted((one, other) => distance(one.at) - distance(other.at) || 0).map(({ value }) => value);
  });
  return [...new Set(sorted)].filter((value) => fits(value, bounds, type));
}

/** A number that fits, 0 where it does. */
export function someNumber(node: SchemaNode, type: string): number {
  const bounds = boundsOf(node, type);
  const { least, most, step } = bounds;
  const low = step === null ? least : Math.ceil(least / step) * step;
  const high = step === null ? most : Math.floor(most / step) * step;
  const stride = step ?? 1;
  const candidates = [0, low, low + stride, high, high - stride, (least + most) / 2];
  return candidates.find((value) => Number.isFinite(value) && fits(value, bounds, type)) ?? 0;
}
