import type { Context } from '../../context.ts';
import { isOptOut } from '../../contacts/suppressions/opt-out-words.ts';
import { proposeSuppression } from '../../contacts/suppressions/proposals.ts';
import { suppress } from '../../contacts/suppressions/suppressions.ts';
import type { Conclusion } from '../../voice-agents/conversation/contract.ts';
import type { CallSetup } from '../live-call/call-setup.ts';

/**
 * Suppresses the number of a person who asked in words not to be called again, and keeps the sentence. Where only the agent's conclusion says
 * so, a person has to decide: a suppression for good must not hang on the judgement of a model. Repeatable.
 */
export async function suppressOptOut(
  context: Context,
  { phone, runId, contactId }: CallSetup,
  conclusion: Conclusion | null,
): Promise<void> {
  if (phone === null || conclusion === null) return;
  const { doNotCallRequest: request } = conclusion;
  if (request?.sentence != null)
    await suppress(context, {
      phone,
      reason: `do_not_call: asked in call ${runId}`,
      source: 'call',
      evidence: request.sentence,
      callRunId: runId,
    });
  else if (request || isOptOut(conclusion))
    await proposeSuppression(context, { phone, contactId, callRunId: runId, reason: explainDoubt(conclusion) });
}

const explainDoubt = ({ disposition, doNotCallRequest: request }: Conclusion): string =>
  request
    ? `words_not_said: the agent quotes "${request.quote}", and the person said nothing like it`
    : `no_words: the talk ended as "${disposition ?? 'do_not_call'}", and no sentence of the person asks for it`;
