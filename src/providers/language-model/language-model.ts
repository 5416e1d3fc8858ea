import { lazyModule } from '../../library/lazy-module.ts';
import { systemRuntime, type Runtime } from '../http/runtime.ts';
import type { CompletionFailure, LanguageModel, LanguageModelSettings } from './contract.ts';

const notConfigured: CompletionFailure = {
  failure: 'not_configured',
  message: 'There is no language model: OPENAI_API_KEY is empty. Set it in .dev.vars locally, or with "wrangler secret put" when deployed',
  retryable: false,
};

// The vendor's client is large, so it is evaluated with the first request and not when the Worker starts.
const completion = lazyModule(() => import('./openai-completion.ts'));
const conversation = lazyModule(() => import('./openai-conversation.ts'));

/** The language model of the settings. Without a key every call returns the failure `not_configured`. */
export const createLanguageModel = (settings: LanguageModelSettings, runtime: Runtime = systemRuntime): LanguageModel => ({
  async complete(request) {
    if (settings.OPENAI_API_KEY === '') return notConfigured;
    const { completeWithOpenAi } = await completion();
    return completeWithOpenAi(settings, request, runtime);
  },
  async *converse(request, signal) {
    if (settings.OPENAI_API_KEY === '') {
      yield { type: 'failure', ...notConfigured };
      return;
    }
    const { converseWithOpenAi } = await conversation();
    yield* converseWithOpenAi(settings, request, signal, runtime);
  },
});
