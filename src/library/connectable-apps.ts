/** What an organization can connect, in the service's neutral names: Slack, Jira, Google Calendar, Zoho Books, Google Sheets. */
export const apps = ['chatapp', 'tracker', 'calendar', 'books', 'sheet'] as const;
export type App = (typeof apps)[number];
