import { Badge } from '@mantine/core';
import { texts } from '../texts/english.ts';

const colors: Record<string, string> = {
  running: 'blue',
  in_call: 'blue',
  live: 'blue',
  dialing: 'blue',
  completed: 'green',
  paused: 'yellow',
  voicemail: 'yellow',
  busy: 'yellow',
  no_answer: 'yellow',
  failed: 'red',
};

/** A state or an outcome as a word; the color only repeats it. */
export const StateBadge = ({ state }: { state: string }) => (
  <Badge variant="light" color={colors[state] ?? 'gray'} styles={{ label: { color: 'var(--mantine-color-text)' } }}>
    {texts.states[state] ?? state}
  </Badge>
);
