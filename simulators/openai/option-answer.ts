import { detectPolarity } from './polarity.ts';
import { isNode, typesOf, type Guess, type Hint, type SchemaNode } from './schema-node.ts';
import type { TextFacts } from './text-facts.ts';
import { toTopic } from './words.ts';

const ofType: Record<string, (value: unknown) => boolean> = {
  null: (value) => value === null,
  array: Array.isArray,
  object: isNode,
  integer: Number.isInteger,
};

/** The options of an enumeration that its own `type` allows. */
export function filterByType(options: unknown[], node: SchemaNode): unknown[] {
  if (node['type'] === undefined) return options;
  return options.filter((option) => typesOf(node).some((type) => (ofType[type] ?? ((value) => typeof value === type))(option)));
}

/** The option that is mentioned most, a yes or no that is said, else the one for the unknown. */
export function guessOption(facts: readonly TextFacts[], options: unknown[]): Guess {
  const mentioned = findMentioned(facts, options);
  if (mentioned.length > 0) return { value: mentioned[0], isFound: true };
  const unknown =
    options.find((option) => option === null) ?? options.find((option) => /^(?:unknown|other|none|unclear|neutral)$/i.test(String(option)));
  return { value: unknown === undefined ? (options[0] ?? null) : unknown, isFound: false };
}

/** The options that the first text with any option mentions, most mentioned first. Without any, the options that agree with its yes or no. */
export function findMentioned(facts: readonly TextFacts[], options: unknown[]): unknown[] {
  for (const { text } of facts) {
    const said = toTopic(text);
    const answer = detectPolarity(text);
    const scored = options.map((option) => {
      const words = toTopic(String(option).replace(/[_-]+/g, ' '));
      const shared = [...words].filter((word) => said.has(word)).length;
      const polarity = detectPolarity(String(option));
      return { option, score: words.size > 0 ? shared / words.size : 0, agrees: polarity !== null && polarity === answer };
    });
    const named = scored.filter(({ score }) => score > 0).toSorted((one, other) => other.score - one.score);
    const agreeing = scored.filter(({ agrees }) => agrees);
    const found = named.length > 0 ? named : agreeing;
    if (found.length > 0) return found.map(({ option }) => option);
  }
  return [];
}

/** The yes or no of the text; without one, whether the text mentions the subject. */
export function guessBoolean(facts: readonly TextFacts[], hint: Hint): Guess {
  const answer = facts.map(({ text }) => detectPolarity(text)).find((polarity) => polarity !== null);
  if (answer) return { value: answer === 'yes', isFound: true };
  const asked = toTopic(hint);
  const isMentioned = facts.some(({ text }) => [...toTopic(text)].some((word) => asked.has(word)));
  return { value: isMentioned, isFound: isMentioned };
}
