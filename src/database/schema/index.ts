export * from './accounts.ts';
export * from './automation-workflows.ts';
export * from './contacts.ts';
export * from './events.ts';
export * from './operations.ts';
