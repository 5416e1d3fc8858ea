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

/**
 * What the language model of a conversation cost, in US dollars, rounded to a millionth. An estimate, since discounts for repeated prompts
 * are unknown here. Null: the price of the model is unknown, which does not mean zero.
 */
export function modelCostUsd(model: string, usage: ConversationState['usage']): number | null {
  const price = prices.get(toPlainModelName(model));
  if (!price) return null;
  const millionths = usage.prompt_tokens * price[0] + usage.completion_tokens * price[1];
  return Math.round(millionths) / 1_000_000;
}

/** A model's name without the prefix of a reseller and the date of a release, as in `openai/gpt-6-luna-2026-09-22`. */
const toPlainModelName = (model: string): string => model.replace(/^.*\//, '').replace(/-\d{4}-\d{2}-\d{2}$/, '');
