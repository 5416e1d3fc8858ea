import { closestSentence } from './sentences.ts';
import { parseSpeechScript } from './speech-script.ts';
import { toTopic } from './words.ts';

const maxSentenceLength = 300;

const shorten = (text: string): string => (text.length > maxSentenceLength ? `${text.slice(0, maxSentenceLength).trimEnd()}...` : text);

/** What the model knows when it speaks. */
export interface SpeechContext {
  instructions: string;
  /** What the other side said last; empty: nothing yet. */
  said: string;
  /** What a tool found, as prose; empty: nothing. */
  found: string;
  /** What the model has said before, in order. */
  before: readonly string[];
  /** The other side says goodbye, or the model has ended the talk. */
  isOver: boolean;
}

const closingSentence = [
  'Is there anything else that I can do for you?',
  'I see. I will note that.',
  'Thank you for your time.',
  'All right.',
];

/**
 * What the model says: of what a tool found the sentence that answers, else the next line that its instructions give it, each once and in order.
 * A question is answered with a fact of the instructions that speaks of the same.
 */
export function composeSentence({ instructions, said, found, before, isOver }: SpeechContext): string {
  if (found !== '') return shorten(closestSentence(found, said) ?? found);
  const { lines, facts, identity, isScript } = parseSpeechScript(instructions);
  if (instructions.trim() === '')
    return said.trim() === '' ? 'Hello, how can I help you?' : shorten(`You said: ${said.trim().replace(/\s+/g, ' ')}`);
  const next = lines.find((line) => !isStatedIn(line, before));
  if (isScript) return shorten(next ?? lines.at(-1) ?? 'Goodbye.');
  if (isOver) return lines.find((line) => /\bgoodbye\b/i.test(line)) ?? 'Thank you, goodbye.';
  const known = facts.find((fact) => isAbout(fact, said) && !isStatedIn(fact, before));
  if (known !== undefined && said.includes('?')) return shorten(known);
  if (said.trim() === '' && before.length === 0 && identity !== null)
    return shorten(['Hello, this is', `${identity}.`, ...(next ? [next] : [])].join(' '));
  const introduction = identity === null ? [] : [`I am ${identity}.`];
  const all = [
    next,
    ...[...facts, ...introduction].filter((line) => !isStatedIn(line, before)),
    ...closingSentence.filter((line) => !before.includes(line)),
  ];
  return shorten(all.find((line) => line !== undefined) ?? closingSentence[before.length % closingSentence.length]!);
}

/** Words of asking, which say nothing of what is asked. */
const asking = toTopic('tell ask may might like please');

const subjectOf = (text: string): string[] => [...toTopic(text)].filter((word) => !asking.has(word));

/** Whether it was said before, in these or a few more words. */
function isStatedIn(line: string, before: readonly string[]): boolean {
  const subject = subjectOf(line);
  return before.some((text) => {
    if (text.includes(line)) return true;
    const textTopic = toTopic(text);
    return subject.length > 0 && line.endsWith('?') && subject.every((word) => textTopic.has(word));
  });
}

function isAbout(fact: string, said: string): boolean {
  const wanted = toTopic(said);
  return subjectOf(fact).some((word) => wanted.has(word));
}
