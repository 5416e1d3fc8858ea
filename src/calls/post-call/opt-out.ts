import type { Context } from '../../context.ts';
import { isOptOut } from '../../contacts/suppressions/opt-out-words.ts';
import { suppress } from '../../contacts/suppressions/suppressions.ts';
import type { Conclusion } from '../../voice-agents/conversation/contract.ts';
import type { CallSetup } from '../live-call/call-setup.ts';

/** Suppresses the number of a person who asked not to be called again. Repeatable. */
export async function suppressOptOut(context: Context, { phone, runId }: CallSetup, conclusion: Conclusion | null): Promise<void> {
  if (phone === null || conclusion === null || !isOptOut(conclusion)) return;
  await suppress(context, { phone, reason: `do_not_call: asked in call ${runId}` });
}
