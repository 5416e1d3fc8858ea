import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { books } from '../../src/providers/apps/books.ts';
import { calendar } from '../../src/providers/apps/calendar.ts';
import { chatapp } from '../../src/providers/apps/chatapp.ts';
import { sheet } from '../../src/providers/apps/sheet.ts';
import { tracker } from '../../src/providers/apps/tracker.ts';
import { apps, type App } from '../../src/library/connectable-apps.ts';
import { createBroker } from '../../src/providers/broker/composio.ts';
import { getSettings } from '../../src/settings.ts';

const broker = createBroker(getSettings(env as unknown as Env));

async function connect(app: App) {
  const started = await broker.start(`org_${crypto.randomUUID()}`, app, app === 'tracker' ? { subdomain: 'acme' } : {});
  if ('failure' in started) throw new Error(started.message);
  await (await fetch(`${started.redirectUrl}?decision=approve`)).text();
  return { broker, id: started.requestId };
}

/** Everything that goes over the wire also does so in workerd, whose fetch and streams are not those of Node. */
describe('inside a Worker', () => {
  test.each(apps)('%s is connected and asked', async (app) => {
    const connection = await connect(app);
    const answers = {
      chatapp: () => chatapp(connection).post({ channel: 'C0000000001', text: 'hello' }),
      tracker: () =>
        tracker(connection, { subdomain: 'acme' }).createIssue({ project: 'OPS', issueType: 'Task', summary: 'One', key: 'k' }),
      calendar: () => calendar(connection).freeBusy({ from: '2026-12-01T00:00:00Z', to: '2026-12-02T00:00:00Z' }),
      books: () => books(connection, { region: 'com', organizationId: '10234695' }).listContacts({ page: 1 }),
      sheet: () =>
        sheet(connection).readRows({
          spreadsheetId: 'simulated-leads',
          tab: 'Leads',
          fromRow: 2,
          rows: 200,
          columns: 5,
          plainColumns: [1],
        }),
    };
    const expected = {
      chatapp: { channel: 'C0000000001' },
      tracker: { issue: { key: 'OPS-1' } },
      calendar: { calendars: new Map([['primary', { busy: [] }]]) },
      books: { contacts: { length: 200 }, hasMore: true },
      sheet: { rows: { length: 120 } },
    };
    expect(await answers[app]()).toMatchObject(expected[app]);
  });
});
