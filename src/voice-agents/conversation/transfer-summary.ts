import { toOutputFormat, strictObjectSchema, recentTranscript } from './extraction.ts';
import type { ConversationContext } from './conversation-context.ts';
import { countUsage, toFallbackEvent } from './record.ts';

/** The caller hears the announcement meanwhile, and then waits. */
const timeoutSeconds = 6;
const maxSummaryLength = 600;

const instruction =
  'A caller is being handed to a colleague. Say in at most three short spoken sentences who calls, what they want and what was agreed, as the colleague hears it. Guess nothing.';

/** A summary of the talk for the human who takes the call. Never throws: without an answer of the model it is a fixed sentence of the agent. */
export async function summarizeForHuman(context: ConversationContext): Promise<string> {
  const { setup, record, dependencies } = context;
  if (!record.messages.some(({ role }) => role === 'user')) return setup.phrases.transfer_introduction;
  const answer = await dependencies.model
    .complete({
      model: setup.model,
      system: instruction,
      messages: [{ role: 'user', content: recentTranscript(context) }],
      output: toOutputFormat(strictObjectSchema({ summary: { type: 'string' } })),
      timeout_seconds: timeoutSeconds,
      seed: setup.seed,
    })
    .catch((error: Error) => ({ failure: 'provider_failed', message: error.name }));
  if ('failure' in answer) {
    record.write({}, { events: [{ type: 'transfer_summary_failed', payload: { failure: answer.failure, message: answer.message } }] });
    return setup.phrases.transfer_introduction;
  }
  const text = String((answer.json as { summary: unknown }).summary)
    .trim()
    .slice(0, maxSummaryLength)
    .toWellFormed();
  record.write(countUsage(record.state, answer), { events: (answer.fallbacks ?? []).map(toFallbackEvent) });
  return text === '' ? setup.phrases.transfer_introduction : text;
}
