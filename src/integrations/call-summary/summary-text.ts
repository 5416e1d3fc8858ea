import type { EndedCall } from './ended-call.ts';

export interface SummaryText {
  /** One line. */
  title: string;
  /** Who called, and what the line and the talk came to. */
  facts: string;
  /** What was said; null: there is nothing to say. */
  talk: string | null;
}

/** `name`: the contact's; empty: it has none. */
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
