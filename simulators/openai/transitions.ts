import type { FunctionTool } from './chat-request.ts';
import { detectPolarity } from './polarity.ts';
import { toStems, toTopic } from './words.ts';

/** Words that conditions of every kind are made of. */
const generic = new Set(
  toStems('user caller customer person contact say says said want wants ask asks asked tell tells give gives need needs'),
);
/** Further meanings of a word: "Tuesday" is also "day". */
const meanings: [RegExp, string][] = [
  [/\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:tomorrow|today|tonight|weekend)\b|\b\d{4}-\d\d-\d\d\b/i, 'day date appointment'],
  [/\b\d{1,2}:\d\d\b|\b\d{1,2} ?(?:am|pm|o'clock)\b|\b(?:noon|morning|afternoon|evening)\b/i, 'time'],
  [/\b(?:good)?bye\b|\bhang up\b/i, 'goodbye bye end'],
  [/\b[\w.+-]+@[\w-]+\.\w+/, 'email address'],
  [/\b(?:human|agent|representative|operator|someone real)\b/i, 'human agent representative transfer'],
];
const polarityScore = 3;
const enough = 1;

const topicWith = (text: string): Set<string> =>
  toTopic(`${text} ${meanings.map(([pattern, words]) => (pattern.test(text) ? words : '')).join(' ')}`);

const spokenName = (name: string): string => name.replace(/[_-]+/g, ' ').replace(/(?<=[a-z])(?=[A-Z])/g, ' ');

/**
 * The tool whose name and description share most words with `text`; a word that several tools share counts for less. A yes and a no find
 * the tool that tells of one, and rule out the other. A question that fits none is looked up, where a tool takes one. Null when nothing fits well.
 */
export function chooseTool(tools: readonly FunctionTool[], text: string): FunctionTool | null {
  const best = rank(tools, text)[0];
  if (best && best.score >= enough) return best.tool;
  return isQuestion(text) ? (tools.find(takesQuestion) ?? null) : null;
}

const isQuestion = (text: string): boolean => /\?\s*$|^\W*(?:what|when|where|who|whose|which|why|how)\b/i.test(text);

const takesQuestion = ({ parameters }: FunctionTool): boolean => {
  const properties = (parameters?.['properties'] ?? {}) as Record<string, unknown>;
  return 'query' in properties || 'question' in properties;
};

/** The best fitting tool, the first one when none fits. */
export const mustChooseTool = (tools: readonly FunctionTool[], text: string): FunctionTool =>
  (rank(tools, text)[0] ?? { tool: tools[0]! }).tool;

function rank(tools: readonly FunctionTool[], text: string): { tool: FunctionTool; score: number }[] {
  const said = topicWith(text);
  const answer = detectPolarity(text);
  const candidates = tools.map((tool) => {
    const description = `${spokenName(tool.name)}. ${tool.description ?? ''}`;
    return { tool, topic: toTopic(description), polarity: detectPolarity(description) };
  });
  const holders = (word: string) => candidates.filter(({ topic }) => topic.has(word)).length;
  return candidates
    .filter(({ polarity }) => answer === null || polarity === null || polarity === answer)
    .map(({ tool, topic, polarity }) => {
      const shared = [...topic].filter((word) => said.has(word) && !generic.has(word));
      const overlap = shared.reduce((sum, word) => sum + 1 / holders(word), 0);
      return { tool, score: overlap + (answer !== null && polarity === answer ? polarityScore : 0) };
    })
    .toSorted((one, other) => other.score - one.score);
}
