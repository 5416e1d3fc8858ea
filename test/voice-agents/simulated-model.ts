import { openai } from '../../simulators/openai.ts';
import type { RequestRecord } from '../../simulators/request-record.ts';
import type { LanguageModel } from '../../src/providers/language-model/contract.ts';
import { createLanguageModel } from '../../src/providers/language-model/language-model.ts';

/** The adapter of the provider, against the simulated provider; `bodies` are the requests it got. */
export function simulatedModel(): { model: LanguageModel; bodies: any[] } {
  const routes = openai.createRoutes({ ledgerFile: undefined, signal: new AbortController().signal, ask: async () => undefined });
  const bodies: any[] = [];
  const model = createLanguageModel(
    { OPENAI_API_KEY: 'local-simulator', OPENAI_BASE_URL: 'https://model.example.com/v1', LANGUAGE_MODEL: 'gpt-6-luna' },
    {
      fetch: async (input, init) => {
        const request = new Request(input as RequestInfo, init as RequestInit);
        bodies.push(await request.clone().json());
        const record = { id: bodies.length, received_at: new Date().toISOString() } as RequestRecord;
        return routes.fetch(request, { record, dropAnswer: () => {} });
      },
      sleep: async () => {},
      random: () => 0,
      now: Date.now,
    },
  );
  return { model, bodies };
}
