import type { EndedCall } from './ended-call.ts';

export interface SummaryText {
  /** One line. */
  title: string;
  /** The agent, the outcome, the disposition and the duration. */
  facts: string;
  /** The summary of the talk; null: there is none. */
  talk: string | null;
}

/** The text of a call's summary. `name`: the contact's name, which may be empty. */
export function summaryText(call: EndedCall, name: string): SummaryText {
  const { agentName, outcome, reason, disposition, durationSeconds, summary } = call;
  const line = reason === null ? outcome : `${outcome} (${reason})`;
  const facts = [
    `Agent: ${agentName}`,
    `Outcome: ${line}`,
    `Disposition: ${disposition ?? 'none'}`,
    `Duration: ${formatDuration(durationSeconds)}`,
  ];
  return { title: `Call with ${formatPerson(call, name)}: ${disposition ?? outcome}`, facts: facts.join('\n'), talk: summary };
}

function formatPerson({ phone }: EndedCall, name: string): string {
  if (name === '') return phone ?? 'an unknown number';
  return phone === null ? name : `${name} (${phone})`;
}

function formatDuration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
}
