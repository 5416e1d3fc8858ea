export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

export interface Completion {
  id: string;
  created: number;
  model: string;
  message: { content: string | null; toolCall: { id: string; name: string; arguments: string } | null };
  finishReason: 'stop' | 'length' | 'tool_calls';
  usage: Usage;
}

export const usageDetails = (usage: Usage) => ({
  ...usage,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
});

/** The completion as one answer. */
export function wholeCompletion({ id, created, model, message, finishReason, usage }: Completion): object {
  const { content, toolCall } = message;
  const calls = toolCall && {
    tool_calls: [{ id: toolCall.id, type: 'function', function: { name: toolCall.name, arguments: toolCall.arguments } }],
  };
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, ...calls, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: finishReason,
      },
    ],
    usage: usageDetails(usage),
    service_tier: 'default',
    system_fingerprint: null,
  };
}
