import { outcomeFromSipCode, type AttemptOutcome } from './outcomes.ts';
import { endAttempt, type Attempt, type CallTimeouts } from './attempt.ts';

/**
 * The end of a line whose status is terminal: at once or, when machine detection may still say that it was a mailbox, after a grace. An
 * answered call on which no talk came about is a failure: somebody picked up and heard nothing of the agent.
 */
export function afterCallEnd(attempt: Attempt, at: number, now: number, patience: CallTimeouts): Attempt {
  const { status, answeredBy, awaitsVerdict } = attempt;
  if (status === 'completed' && answeredBy === null && awaitsVerdict) {
    return {
      ...attempt,
      endedAt: attempt.endedAt ?? at,
      checkAt: Math.min(attempt.checkAt ?? Infinity, now + patience.machineVerdictTimeoutMs),
    };
  }
  const [outcome, detail] = toAttemptOutcome(attempt);
  return endAttempt(attempt, outcome, detail, attempt.endedAt ?? at);
}

/** The end of a line that waited for a verdict in vain. Doubt counts as a person. */
export const afterVerdictTimeout = (attempt: Attempt): Attempt => {
  const [outcome, detail] = toAttemptOutcome({ ...attempt, awaitsVerdict: false });
  return endAttempt(attempt, outcome, detail, attempt.endedAt ?? attempt.checkAt ?? 0);
};

function toAttemptOutcome({ status, answeredBy, hasTalk, sipCode, detail }: Attempt): [AttemptOutcome, string | null] {
  switch (status) {
    case 'completed':
      if (answeredBy === 'machine') return ['voicemail', null];
      return hasTalk ? ['completed', null] : ['failed', detail ?? 'the call was answered, but the line ended before the agent was on it'];
    case 'busy':
    case 'no_answer':
    case 'cancelled':
      return [status, null];
    default:
      return [outcomeFromSipCode(sipCode ?? undefined), explainFailure(sipCode, detail)];
  }
}

/** With the carrier's own words, where it has some. */
function explainFailure(sipCode: number | null, words: string | null): string | null {
  const told = [sipCode !== null && `SIP ${sipCode}`, words].filter(Boolean).join(', ');
  return told === '' ? null : `the carrier could not complete the call (${told})`;
}
