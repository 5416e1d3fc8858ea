export * from './accounts.ts';
export * from './automation-workflows.ts';
export * from './campaigns.ts';
export * from './contacts.ts';
export * from './events.ts';
export * from './knowledge-base.ts';
export * from './operations.ts';
export * from './voice-agents.ts';
