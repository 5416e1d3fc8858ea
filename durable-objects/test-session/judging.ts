import { evaluateCheck, toUnknownResult, type Evidence } from '../../src/simtest/checks/evaluate.ts';
import type { CheckResult, SessionFacts, Speaker } from '../../src/simtest/contract.ts';
import { collectEvidence } from '../../src/simtest/checks/evidence.ts';
import { buildJudgeRequest, toCheckResult } from '../../src/simtest/checks/judge.ts';
import { toSideDefinition } from '../../src/simtest/dialogue/side-conversation.ts';
import { addUsage } from '../../src/voice-agents/conversation/record.ts';
import type { Conversation } from '../../src/voice-agents/conversation/conversation.ts';
import type { LanguageModel } from '../../src/providers/language-model/contract.ts';
import type { Logger } from '../../src/library/platform/log.ts';
import { speakers, type Dialogue } from './dialogue.ts';
import type { SessionJournal } from './session-journal.ts';
import type { SessionStore } from './session-store.ts';

const maxConclusionAttempts = 5;

export interface JudgingDependencies {
  session: SessionStore;
  journal: SessionJournal;
  dialogue: Dialogue;
  conversationOf(speaker: Speaker): Conversation;
  model: LanguageModel;
  log: Logger;
  /** Whether the session is still to be judged: a stop may end it during an await. */
  isWanted(): boolean;
}

/** Concludes both conversations, once each. Returns the delay in ms before the next try; null: both are concluded, or have failed for good. */
export async function concludeBoth({ session, journal, conversationOf, log, isWanted }: JudgingDependencies): Promise<number | null> {
  const open = speakers.map(conversationOf).filter(({ state }) => state !== null && state.conclusion === null);
  if (open.length === 0) return null;
  const number = session.progress.conclusions + 1;
  // Counted before the try, so that a try during which the object dies counts.
  session.change({ conclusions: number });
  journal.write();
  const giveUp = number >= maxConclusionAttempts;
  const answers = await Promise.all(
    open.map((conversation) =>
      conversation.conclude({ giveUp }).catch((error: unknown) => {
        log.error('a conversation of a test could not be concluded', error);
        return { failure: 'provider_failed' };
      }),
    ),
  );
  const isOpen = isWanted() && !giveUp && answers.some((answer) => 'failure' in answer);
  return isOpen ? 1_000 * 2 ** number : null;
}

/** Asks the language model to judge the next statement. False: all statements are judged. */
export async function judgeNext({ session, journal, dialogue, model, isWanted }: JudgingDependencies): Promise<boolean> {
  const { config } = session.facts;
  const { judged } = session.progress;
  const check = config.checks.find((one) => one.type === 'judge' && !judged.some(({ name }) => name === one.name));
  if (check?.type !== 'judge') return false;
  journal.write();
  const answer = await model.complete(buildJudgeRequest(check, dialogue.turns, config.seed));
  if (!isWanted()) return false;
  const { judged: before, judgeUsage } = session.progress;
  session.change({
    judged: [...before, toCheckResult(check, answer)],
    ...('usage' in answer && { judgeUsage: addUsage(judgeUsage, answer.usage) }),
  });
  return true;
}

/** The results of all checks, in their order. `notJudgedReason` is why the language model was not asked for the rest; null: it was asked. */
export function evaluateChecks(
  facts: SessionFacts,
  dialogue: Dialogue,
  judged: CheckResult[],
  notJudgedReason: string | null,
): CheckResult[] {
  const { sides, turns } = dialogue;
  const collect = (speaker: Speaker) => collectEvidence(speaker, sides[speaker], toSideDefinition(facts, speaker), notJudgedReason);
  const evidence: Evidence = { turns, actor: collect('actor'), adversary: collect('adversary') };
  return facts.config.checks.map((check) =>
    check.type === 'judge'
      ? (judged.find(({ name }) => name === check.name) ?? toUnknownResult(check, notJudgedReason!))
      : evaluateCheck(check, evidence),
  );
}
