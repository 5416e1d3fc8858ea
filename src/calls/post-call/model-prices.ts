import type { PinnedModel } from '../../language-models/pinned-models.ts';
import type { ConversationState, ModelUsage } from '../../voice-agents/conversation/contract.ts';

/**
 * US dollars for a million tokens, [prompt, completion], at list price. https://developers.openai.com/api/docs/pricing and
 * https://platform.claude.com/docs/en/models/overview, November 2026. The price of claude-haiku-5-5 is that of prompts up to 100,000 tokens,
 * which those of a talk do not exceed.
 */
const prices = new Map<string, [prompt: number, completion: number]>(
  Object.entries({
    'gpt-6-astra': [10, 50],
    'gpt-6-sol': [2, 10],
    'gpt-6.1-sol': [2, 10],
    'gpt-6-luna': [0.1, 0.5],
    'gpt-5.6-sol': [4, 20],
    'gpt-5.6-terra': [2, 12],
    'gpt-5.6-luna': [0.2, 1.2],
    'claude-fable-5-2': [8, 40],
    'claude-fable-5-1': [10, 50],
    'claude-opus-5-5': [4, 20],
    'claude-opus-5': [5, 25],
    'claude-opus-4-8': [5, 25],
    'claude-opus-4-7': [5, 25],
    'claude-opus-4-6': [5, 25],
    'claude-opus-4-5': [5, 25],
    'claude-opus-4-1': [15, 75],
    'claude-sonnet-5-5': [2, 10],
    'claude-sonnet-5': [2, 10],
    'claude-sonnet-4-6': [3, 15],
    'claude-sonnet-4-5': [3, 15],
    'claude-haiku-5-5': [0.1, 0.5],
    'claude-haiku-4-5': [1, 5],
  }),
);

/**
 * What the language model of a conversation cost, in US dollars, rounded to a millionth. An estimate, since discounts for repeated prompts
 * are unknown here. Null: the price of the model is unknown, which does not mean zero.
 */
export function modelCostUsd(model: string, usage: ConversationState['usage']): number | null {
  const price = prices.get(toPlainModelName(model));
  return price ? toUsd(price, usage) : null;
}

const toUsd = ([prompt, completion]: [number, number], usage: ConversationState['usage']): number =>
  Math.round(usage.prompt_tokens * prompt + usage.completion_tokens * completion) / 1_000_000;

/**
 * What the language models of a conversation cost together, each at the price that its organization gives for it, else at list price. Null:
 * the price of one of them is unknown. `configured` is the model that the service was to ask, whose price counts where the provider answers
 * under a name that the list does not have.
 */
export function conversationCostUsd(
  state: Pick<ConversationState, 'usage' | 'usageByModel'> | null,
  models: readonly PinnedModel[],
  configured: string,
): number | null {
  const none = { prompt_tokens: 0, completion_tokens: 0 };
  if (!state?.usageByModel) return modelCostUsd(configured, state?.usage ?? none);
  const costs = state.usageByModel.map((usage) => answerCostUsd(usage, models, configured));
  if (costs.some((cost) => cost === null)) return null;
  return Math.round(costs.reduce<number>((sum, cost) => sum + cost!, 0) * 1_000_000) / 1_000_000;
}

function answerCostUsd(usage: ModelUsage, models: readonly PinnedModel[], configured: string): number | null {
  const own = usage.languageModelId === null ? undefined : models.find(({ id }) => id === usage.languageModelId);
  const { prompt_usd_per_million: prompt = null, completion_usd_per_million: completion = null } = own ?? {};
  if (prompt !== null && completion !== null) return toUsd([prompt, completion], usage);
  return modelCostUsd(usage.model, usage) ?? modelCostUsd(own?.model ?? configured, usage);
}

/** A model's name without the prefix of a reseller and the date of a release, as in `openai/gpt-6-luna-2026-09-22`, `claude-haiku-4-5-20251001`. */
const toPlainModelName = (model: string): string => model.replace(/^.*\//, '').replace(/-\d{4}-?\d{2}-?\d{2}$/, '');
