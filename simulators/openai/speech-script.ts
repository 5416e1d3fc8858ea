import { splitSentences } from './sentences.ts';

/** The speech of somebody with these instructions: the lines in order, the facts that answer questions, and the identity. */
export interface SpeechScript {
  lines: string[];
  facts: string[];
  identity: string | null;
  /** The lines are given word by word. */
  isScript: boolean;
}

const script = /\b(?:in|with|using) (?:these|the following|exactly these) (?:words|lines)\s*:\s*\n?([^]*)$/i;
const named = /^you are (\p{Lu}[^,.;!?]*?)(?=,|;|[.!?]|\s+(?:and|who|that)\b|$)/iu;
/** The beginning of an instruction that holds only in some case. */
const conditional = /^(?:if|when|where|while|unless|until|before|after|once)\b/i;
/** The beginning of an instruction about how to speak, not about what to say. */
const manner =
  /^(?:you|your|be|never|do not|don't|always|only|if|when|where|while|unless|until|before|after|once|play|act|pretend|answer|respond|reply|speak|talk|use|keep|stay|avoid|promise|press|remember|help|find|wait|listen|let|try|make|note|call|one|ignore|follow|then|start|begin|continue|go|end|hang|transfer|write|read|summari[sz]e|extract|classify|translate)\b/i;
const acts = 'ask|find out|offer|tell|inform|remind|thank|greet|welcome|say|mention|explain|confirm|apologi[sz]e|propose|suggest';
const between = new RegExp(`\\s*(?:[,;]\\s*(?:and|then|and then)?|\\band(?: then)?)\\s+(?=(?:${acts})\\b)`, 'i');
const person = '(?:the |your )?(?:user|caller|customer|person|contact|client|lead|guest|patient|other side)|them|him|her';

/** Turns a prompt into speech. Instructions themselves are never said aloud. */
export function parseSpeechScript(instructions: string): SpeechScript {
  const words = script.exec(instructions)?.[1];
  if (words !== undefined)
    return {
      lines: words
        .split('\n')
        .map((line) => line.trim())
        .filter(Boolean),
      facts: [],
      identity: null,
      isScript: true,
    };
  const speech: SpeechScript = { lines: [], facts: [], identity: null, isScript: false };
  for (const sentence of splitSentences(instructions)) {
    const name = named.exec(sentence)?.[1];
    if (name !== undefined && !/^(?:an?|the)\b/i.test(name)) speech.identity ??= name;
    const clauses = sentence
      .replace(/^(?:please|then|first|next|finally|now|politely|briefly)[, ]+/i, '')
      .replace(/[.!?]+$/, '')
      .split(between);
    const spoken = conditional.test(sentence) ? [] : clauses.flatMap((clause) => linesFor(clause.trim()));
    if (spoken.length > 0) speech.lines.push(...joined(spoken));
    else if (!manner.test(sentence) && !new RegExp(`^(?:${acts})\\b`, 'i').test(sentence)) speech.facts.push(sentence);
  }
  // A goodbye ends the talk, so it joins the line before it.
  if (speech.lines.length > 1 && speech.lines.at(-1) === 'Goodbye.') speech.lines.push(...joined(speech.lines.splice(-2)));
  return speech;
}

/** Joins a thank-you and a goodbye into one line. */
const joined = (spoken: string[]): string[] =>
  spoken.includes('Goodbye.') ? [spoken.join(' ').replace(/^Thank you\. Goodbye\.$/, 'Thank you, goodbye.')] : spoken;

type Rule = [RegExp, (rest: string) => string];

const rules: Rule[] = [
  [
    /^(you (?:are (?:not )?(?:interested|looking|calling|unhappy|angry)|want|need|have|had|would like|like|prefer|bought|ordered|do not|don't|cannot|can't)\b.*)$/i,
    ofMyself,
  ],
  [new RegExp(`^(?:ask|find out)\\s+(?:(?:${person})\\s+)?(.+)$`, 'i'), question],
  [/^offer to (.+)$/i, (rest) => `We can ${toYou(rest)}, if you like.`],
  [new RegExp(`^offer\\s+(?:(?:${person})\\s+)?(.+)$`, 'i'), (rest) => `I can offer you ${toYou(rest)}.`],
  [new RegExp(`^(?:propose|suggest)\\s+(?:that )?(.+)$`, 'i'), (rest) => `How about ${toYou(rest)}?`],
  [new RegExp(`^thank\\b.*$`, 'i'), () => 'Thank you.'],
  [/^(?:greet|welcome)\b.*$|^say (?:hello|hi)\b.*$/i, () => 'Hello.'],
  [/^say (?:good ?)?bye\b.*$/i, () => 'Goodbye.'],
  [/^apologi[sz]e\b.*$/i, () => 'I am sorry.'],
  [new RegExp(`^(?:say|explain|mention|(?:tell|inform)\\s+(?:${person}))\\s+that (.+)$`, 'i'), (rest) => statement(rest)],
  [/^say\s*:?\s*["“](.+)["”]$/i, (rest) => rest],
  [new RegExp(`^(?:tell|inform)\\s+(?:${person})\\s+(?:about |of )?(.+)$`, 'i'), (rest) => `Let me tell you ${toYou(rest)}.`],
  [new RegExp(`^remind\\s+(?:${person})\\s+(?:that |of |about )(.+)$`, 'i'), (rest) => `May I remind you of ${toYou(rest)}.`],
  [/^confirm (?:that )?(.+)$/i, (rest) => `Let me confirm ${toYou(rest)}.`],
];

/** The lines of one instruction: a question for several things becomes one line for each. */
function linesFor(clause: string): string[] {
  for (const [pattern, say] of rules) {
    const found = pattern.exec(clause);
    if (!found) continue;
    const rest = (found[1] ?? '').replace(/,? (?:in their own words|politely|briefly)$/i, '');
    return (say === question ? rest.split(nextQuestion) : [rest]).map((part) => capitalized(say(part)));
  }
  return [];
}

const nextQuestion = /,?\s+and\s+(?=(?:(?:on|at|by|for|in) )?(?:what|which|when|where|how|whether|who)\b(?:\s+\S+){2})/i;

const modal = 'will|would|can|could|may|might|should|must|are|were|have';

/** "whether they are interested" is asked as "Are you interested?" */
function question(what: string): string {
  const asked = toYou(what);
  const wanted = /^(?:whether|if) (.+)$/i.exec(asked)?.[1];
  if (wanted !== undefined) {
    const inverted = new RegExp(`^you (${modal}) (.+)$`, 'i').exec(wanted);
    if (inverted) return `${inverted[1]!.toLowerCase()} you ${inverted[2]}?`;
    const plain = /^you (.+)$/i.exec(wanted);
    if (plain) return `do you ${plain[1]}?`;
    const third = /^(this|that|it|there|now|today|tomorrow) (is|was|will|would|can) (.+)$/i.exec(wanted);
    if (third) return `${third[2]} ${third[1]} ${third[3]}?`;
    return `may I ask whether ${wanted}?`;
  }
  if (/^for\b/i.test(asked)) return `may I ask you ${asked}?`;
  if (/^(?:which|who) [\w ]*?(?:suits?|fits?|works?|comes?|goes?|is)\b/i.test(asked)) return `${asked}?`;
  const should = new RegExp(`^((?:what|when|where|which|who|how)\\b(?: \\w+)?) you (${modal}) (.+)$`, 'i').exec(asked);
  if (should) return `${should[1]} ${should[2]!.toLowerCase()} you ${should[3]}?`;
  return `could you tell me ${asked}?`;
}

function ofMyself(what: string): string {
  return `${what
    .replace(/\byou are\b/gi, 'I am')
    .replace(/\byour\b/gi, 'my')
    .replace(/\byou\b/gi, 'I')}.`;
}

const statement = (what: string): string => `${toYou(what)}.`;

/** Changes the pronouns: "they" of the instructions becomes "you" on the line, and "you" becomes "I". */
const toYou = (text: string): string =>
  text
    .replace(/\b(?:you|yourself) are\b/gi, 'I am')
    .replace(/\byour\b/gi, 'my')
    .replace(/\byou\b/gi, 'I')
    .replace(/\b(?:the|a) (?:user|caller|customer|person|client|contact|lead)(?:'s)\b/gi, 'your')
    .replace(
      /\b(?:the (?:user|caller|customer|person|client|contact|lead)|they|he|she) (is|has|does|was|wants|needs|likes|prefers|thinks|knows)\b/gi,
      (_all, verb: string) => `you ${agreeing[verb.toLowerCase()] ?? verb.slice(0, -1)}`,
    )
    .replace(/\b(?:the (?:user|caller|customer|person|client|contact|lead)|they|them|him|he|she)\b/gi, 'you')
    .replace(/\b(?:their|his|her)\b/gi, 'your');

const agreeing: Record<string, string> = { is: 'are', has: 'have', does: 'do', was: 'were' };

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
