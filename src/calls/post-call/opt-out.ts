import type { Context } from '../../context.ts';
import { suppress } from '../../contacts/suppressions/suppressions.ts';
import type { Conclusion } from '../../voice-agents/conversation/contract.ts';
import type { CallSetup } from '../live-call/call-setup.ts';

const optOutPattern = /^(?:do[\s_-]?not[\s_-]?call|dnc|opt(?:ed)?[\s_-]?out|unsubscribe)$/i;

/** Whether the other side does not want to be called again. */
export const isOptOut = ({ disposition, tags }: Pick<Conclusion, 'disposition' | 'tags'>): boolean =>
  [disposition ?? '', ...tags].some((word) => optOutPattern.test(word.trim()));

/** Sees to it that somebody who asked for it is not called again. Repeatable. */
export async function suppressOptOut(context: Context, { phone, runId }: CallSetup, conclusion: Conclusion | null): Promise<void> {
  if (phone === null || conclusion === null || !isOptOut(conclusion)) return;
  await suppress(context, { phone, reason: `do_not_call: asked in call ${runId}` });
}
