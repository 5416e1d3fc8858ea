import { samplePattern } from './pattern-sample.ts';
import { detectPolarity } from './polarity.ts';
import { closestSentence, splitSentences } from './sentences.ts';
import type { Hint, SchemaNode } from './schema-node.ts';
import type { TextFacts } from './text-facts.ts';
import { toTopic } from './words.ts';

/** The kinds of facts by the words of a place. The first that matches counts. */
const kinds: [RegExp, (facts: TextFacts, hint: Hint) => string[]][] = [
  [/\be-?mail/i, ({ emails }) => emails],
  [/\b(?:phone|mobile|telephone|cell)\b/i, ({ phones }) => phones],
  [/\b(?:url|link|website|site)\b/i, ({ links }) => links],
  [/\b(?:first|given) ?name\b/i, ({ names }) => names.map((name) => name.split(' ')[0]!)],
  [
    /\b(?:last|family) ?name\b|\bsurname\b/i,
    ({ names }) => names.filter((name) => name.includes(' ')).map((name) => name.replace(/^\S+ /, '')),
  ],
  [/\bnames?\b|\bwho\b/i, ({ names }) => names],
  [/\bdate and time\b|\btimestamp\b/i, ({ dateTimes }) => dateTimes],
  [
    /\b(?:week)?days?\b|\bdates?\b|\bwhen\b/i,
    ({ dates, days }, hint) => (/\bdays?\b|\bweekdays?\b/i.test(hint) ? [...days, ...dates] : [...dates, ...days]),
  ],
  [/\btimes?\b|\bhour\b/i, ({ times }) => times],
];
const freeText =
  /\b(?:summary|reason|note|notes|text|answer|message|comment|comments|description|question|topic|subject|feedback|request|quote)\b/i;

const formats: Record<string, { read: (facts: TextFacts) => string[]; sample: string }> = {
  email: { read: ({ emails }) => emails, sample: 'someone@example.com' },
  'date-time': { read: ({ dateTimes }) => dateTimes, sample: '2030-01-01T09:00:00Z' },
  date: { read: ({ dates }) => dates, sample: '2030-01-01' },
  time: { read: ({ times }) => times.filter((time) => /^\d\d:\d\d$/.test(time)).map((time) => `${time}:00Z`), sample: '09:00:00Z' },
  uri: { read: ({ links }) => links, sample: 'https://example.com/' },
  url: { read: ({ links }) => links, sample: 'https://example.com/' },
  hostname: { read: () => [], sample: 'example.com' },
  ipv4: { read: () => [], sample: '192.0.2.1' },
  ipv6: { read: () => [], sample: '2001:db8::1' },
  uuid: { read: () => [], sample: '00000000-0000-4000-8000-000000000000' },
  duration: { read: () => [], sample: 'P1D' },
};

/** The texts that fit such a place, without repeats. */
export function textsFor(facts: readonly TextFacts[], node: SchemaNode, hint: Hint): string[] {
  const format = formats[String(node['format'])];
  const kind = kinds.find(([words]) => words.test(hint))?.[1];
  const read = (one: TextFacts): string[] => {
    if (format) return format.read(one);
    if (/\bword for word\b/i.test(hint)) return findQuoted(one.text, hint);
    const known = kind?.(one, hint) ?? [];
    const labelled = known.length > 0 ? undefined : labelledValue(one.text, hint);
    if (kind || labelled !== undefined) return labelled === undefined ? known : [labelled];
    return freeText.test(hint) ? firstFor(hint, splitSentences(one.text)) : [];
  };
  const candidates = [...new Set(facts.flatMap(read))];
  const byPattern = typeof node['pattern'] === 'string' ? facts.flatMap(({ text }) => text.split(/[\s,;]+/)) : [];
  return [...candidates, ...byPattern].filter((text) => fits(text, node));
}

const minSharedWords = 2;

/**
 * The sentence of a person, for a place that takes it word for word: one that shares words with the place and says no where the place does. A
 * transcript's lines of the agent are nobody's words.
 */
function findQuoted(text: string, hint: Hint): string[] {
  const wanted = toTopic(hint);
  const saysNo = detectPolarity(hint) === 'no';
  const shared = (sentence: string) => [...toTopic(sentence)].filter((word) => wanted.has(word)).length;
  return splitSentences(text.replaceAll(/^Agent: .*$/gm, ''))
    .map((sentence) => sentence.replace(/^Person: /, ''))
    .filter((sentence) => shared(sentence) >= minSharedWords && (!saysNo || detectPolarity(sentence) === 'no'))
    .toSorted((one, other) => shared(other) - shared(one))
    .slice(0, 1);
}

/** A place for a question takes a question, not the sentence before it. */
function firstFor(hint: Hint, sentences: string[]): string[] {
  const asked = /\b(?:question|query)\b/i.test(hint) ? sentences.filter((sentence) => sentence.endsWith('?')) : [];
  return [...asked, ...sentences].slice(0, 1);
}

/** "City: Paris" and "my city is Paris", for a place called city. */
function labelledValue(text: string, hint: Hint): string | undefined {
  const label = /^[\w ]{2,40}?(?=$| [a-z]* )/i.exec(hint)?.[0]?.split(' ').slice(-1)[0] ?? '';
  if (label.length < 3) return undefined;
  const lead = new RegExp(`\\b${label}\\s*(?::|=|\\bis\\b)\\s*([^\\n.,;!?]{1,80})`, 'i').exec(text);
  return lead?.[1]?.trim().replace(/^["']|["']$/g, '') || undefined;
}

const length = (text: string): number => [...text].length;

function fits(text: string, node: SchemaNode): boolean {
  if (length(text) < Number(node['minLength'] ?? 0) || length(text) > Number(node['maxLength'] ?? Infinity)) return false;
  return typeof node['pattern'] !== 'string' || new RegExp(node['pattern'], 'u').test(text);
}

const maxRepeats = 200;

/** A text that fits without a fact: a sentence of the text if any sentence fits. */
export function someText(facts: readonly TextFacts[], node: SchemaNode): string {
  const format = formats[String(node['format'])];
  if (format) return format.sample;
  if (typeof node['pattern'] === 'string') {
    for (let more = 0; more < maxRepeats; more++) {
      const sample = samplePattern(node['pattern'], more);
      if (fits(sample, node)) return sample;
    }
    return samplePattern(node['pattern']);
  }
  const candidates = facts.map(({ text }) => closestSentence(text, '')).find((sentence) => sentence !== undefined) ?? 'unknown';
  const cut = [...candidates].slice(0, Number(node['maxLength'] ?? Infinity)).join('');
  return cut.padEnd(Number(node['minLength'] ?? 0) + (cut.length - length(cut)), '.');
}
