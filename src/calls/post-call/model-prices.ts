import type { ConversationState } from '../../voice-agents/conversation/contract.ts';

/** US dollars for a million tokens, [prompt, completion], at list price. https://developers.openai.com/api/docs/pricing, November 2026. */
const prices = new Map<string, [prompt: number, completion: number]>(
  Object.entries({
    'gpt-6-astra': [10, 50],
    'gpt-6-sol': [2, 10],
    'gpt-6.1-sol': [2, 10],
    'gpt-6-luna': [0.1, 0.5],
    'gpt-5.6-sol': [4, 20],
    'gpt-5.6-terra': [2, 12],
    'gpt-5.6-luna': [0.2, 1.2],
  }),
);

/** As services that sell others' models write names, and as dated releases are called: `openai/gpt-6-luna-2026-09-22`. */
const toPlainModelName = (model: string): string => model.replace(/^.*\//, '').replace(/-\d{4}-\d{2}-\d{2}$/, '');

/**
 * What the language model of a talk cost, in US dollars to a millionth: an estimate, since discounts for repeated prompts are not known here.
 * Null: nobody knows the price of this model, which is not to be taken for a talk that cost nothing.
 */
export function modelCostUsd(model: string, usage: ConversationState['usage']): number | null {
  const price = prices.get(toPlainModelName(model));
  if (!price) return null;
  const millionths = usage.prompt_tokens * price[0] + usage.completion_tokens * price[1];
  return Math.round(millionths) / 1_000_000;
}
