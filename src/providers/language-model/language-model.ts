import { lazyModule } from '../../library/lazy-module.ts';
import { systemRuntime, type Runtime } from '../http/runtime.ts';
import type { CompletionFailure, LanguageModel, LanguageModelSettings, ModelEndpoint } from './contract.ts';
import { serviceEndpoint } from './service-endpoint.ts';

const notConfigured: CompletionFailure = {
  failure: 'not_configured',
  message: 'There is no language model: OPENAI_API_KEY is empty. Set it in .dev.vars locally, or with "wrangler secret put" when deployed',
  retryable: false,
};

// The adapters are large, so they are evaluated with the first request and not when the Worker starts.
const openAiCompletion = lazyModule(() => import('./openai-completion.ts'));
const openAiConversation = lazyModule(() => import('./openai-conversation.ts'));
const anthropic = lazyModule(() => import('./anthropic/adapter.ts'));

/** The language model at an endpoint, which `open` gives for each request, so that a sealed key is opened when it is used. */
export const createEndpointModel = (
  open: () => Promise<ModelEndpoint> | ModelEndpoint,
  runtime: Runtime = systemRuntime,
): LanguageModel => ({
  async complete(request) {
    const endpoint = await open();
    if (endpoint.provider === 'anthropic') return (await anthropic()).completeWithAnthropic(endpoint, request, runtime);
    return (await openAiCompletion()).completeWithOpenAi(endpoint, request, runtime);
  },
  async *converse(request, signal) {
    const endpoint = await open();
    if (endpoint.provider === 'anthropic') yield* (await anthropic()).converseWithAnthropic(endpoint, request, signal, runtime);
    else yield* (await openAiConversation()).converseWithOpenAi(endpoint, request, signal, runtime);
  },
});

const modelWithoutKey: LanguageModel = {
  complete: async () => notConfigured,
  async *converse() {
    yield { type: 'failure', ...notConfigured };
  },
};

/** The language model of the settings. Without a key every call returns the failure `not_configured`. */
export const createLanguageModel = (settings: LanguageModelSettings, runtime: Runtime = systemRuntime): LanguageModel =>
  settings.OPENAI_API_KEY === '' ? modelWithoutKey : createEndpointModel(() => serviceEndpoint(settings), runtime);
