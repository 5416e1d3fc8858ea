import type { Context } from '../../accounts/context.ts';
import { suppress } from '../../contacts/suppressions/suppressed.ts';
import type { Conclusion } from '../conversation/contract.ts';
import type { CallFacts } from './call-facts.ts';

const optOut = /^(?:do[\s_-]?not[\s_-]?call|dnc|opt(?:ed)?[\s_-]?out|unsubscribe)$/i;

/** Whether the other side does not want to be called again. */
export const isOptOut = ({ disposition, tags }: Pick<Conclusion, 'disposition' | 'tags'>): boolean =>
  [disposition ?? '', ...tags].some((word) => optOut.test(word.trim()));

/** Sees to it that somebody who asked for it is not called again. Repeatable. */
export async function keepOptOut(context: Context, { phone, runId }: CallFacts, conclusion: Conclusion | null): Promise<void> {
  if (phone === null || conclusion === null || !isOptOut(conclusion)) return;
  await suppress(context, { phone, reason: `do_not_call: asked in call ${runId}` });
}
