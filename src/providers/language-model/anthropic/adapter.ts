export { completeWithAnthropic } from './completion.ts';
export { converseWithAnthropic } from './conversation.ts';
