export const runStates = ['queued', 'pending', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const;
export type RunState = (typeof runStates)[number];
export const liveStates: readonly RunState[] = ['queued', 'pending', 'running', 'waiting'];
export const isLive = (state: RunState): boolean => liveStates.includes(state);
