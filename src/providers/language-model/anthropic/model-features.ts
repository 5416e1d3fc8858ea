import type { ModelEndpoint } from '../contract.ts';
import { AnthropicApiError } from './api.ts';

/** What some models take and others refuse with status 400. */
export type Feature =
  /** `output_config.format`, since Claude 4.5. */
  | 'output_format'
  /** `tool_choice` with the name of a tool, up to Claude 5. */
  | 'forced_tool'
  /** Calls of tools in the history without the thoughts that led to them, which are not kept. */
  | 'tool_history'
  /** The lowest setting of thinking. */
  | 'thinking';

const mentions: Record<Feature, RegExp> = {
  output_format: /output_config\.format|output_config: Extra|output_format|structured output|json_schema/i,
  forced_tool: /tool_choice|forced tool|force tool/i,
  tool_history: /start with a .?thinking|expected .?thinking|thinking.? blocks?/i,
  thinking: /thinking|between_tools|effort/i,
};

/** Features that a model has refused in this isolate. */
const refusedFeatures = new Map<string, Set<Feature>>();
const maxRememberedModels = 100;

const keyOf = ({ baseUrl }: ModelEndpoint, model: string): string => `${baseUrl} ${model}`;

/** Whether the model has not refused the feature in this isolate. */
export const mayUse = (endpoint: ModelEndpoint, model: string, feature: Feature): boolean =>
  refusedFeatures.get(keyOf(endpoint, model))?.has(feature) !== true;

/**
 * Sends a request, and again without a feature that the model refuses; the refusal is remembered. `send` builds the request from the
 * features that may be used, and is called once more for each of them at most. `used` are the features of the request.
 */
export async function withoutRefusedFeatures<Answer>(
  endpoint: ModelEndpoint,
  model: string,
  used: () => readonly Feature[],
  send: () => Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    const features = used();
    try {
      return await send();
    } catch (error) {
      const refused =
        error instanceof AnthropicApiError && error.status === 400
          ? features.find((feature) => mentions[feature].test(error.message) && mayUse(endpoint, model, feature))
          : undefined;
      if (refused === undefined) throw error;
      rememberRefusal(keyOf(endpoint, model), refused);
    }
  }
}

function rememberRefusal(key: string, feature: Feature): void {
  const known = refusedFeatures.get(key) ?? new Set();
  if (!refusedFeatures.has(key) && refusedFeatures.size >= maxRememberedModels) refusedFeatures.clear();
  refusedFeatures.set(key, known.add(feature));
}

/**
 * The lowest setting of thinking of the models that think unless told otherwise: a person is waiting on the line. Opus 5.5 and the models
 * above it always think (https://platform.claude.com/docs/en/build-with-claude/thinking, November 2026).
 */
export function lowestThinking(model: string): { thinking?: { type: string }; output_config?: { effort: 'low' } } {
  if (/claude-(?:sonnet|haiku)-5-[5-9]/.test(model)) return { thinking: { type: 'between_tools' } };
  if (alwaysThinks(model)) return { output_config: { effort: 'low' } };
  if (/claude-(?:opus|sonnet|haiku)-5(?!-\d(?!\d))/.test(model)) return { thinking: { type: 'disabled' } };
  return {};
}

const alwaysThinks = (model: string): boolean => /claude-(?:fable|mythos)-|claude-opus-(?:5-[5-9]|[6-9])(?!\d)/.test(model);

/** Thinking counts towards `max_tokens`, so that a model that always thinks needs room for it. */
export const thinkingTokens = (model: string): number => (alwaysThinks(model) ? 4_000 : 0);
