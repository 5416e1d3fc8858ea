import { simulatorsUrl } from './carrier.ts';

/** What an organization's own world at the simulated tools holds. */
async function askSimulator(organizationId: number, path: string): Promise<{ status: number; body: any }> {
  const answer = await fetch(simulatorsUrl + path, { headers: { authorization: `Bearer org_${organizationId}` } });
  return { status: answer.status, body: await answer.json() };
}

export interface PostedText {
  channel: string;
  text: string;
}

/** Oldest first. */
export const readPostedMessages = async (organizationId: number): Promise<PostedText[]> =>
  (await askSimulator(organizationId, `/slack/__sim/messages?customer=org_${organizationId}`)).body.messages.map(
    ({ channel, text }: PostedText) => ({
      channel,
      text,
    }),
  );

/** The issues of a project, oldest first, each with its key. */
export async function listIssues(organizationId: number, project = 'OPS'): Promise<any[]> {
  const issues: any[] = [];
  for (;;) {
    const { status, body } = await askSimulator(
      organizationId,
      `/jira/ex/jira/cloud-of-acme/rest/api/3/issue/${project}-${issues.length + 1}`,
    );
    if (status !== 200) return issues;
    issues.push({ key: body.key, ...body.fields });
  }
}

/** The event of this id; null: there is none. */
export async function readCalendarEvent(organizationId: number, eventId: string): Promise<any> {
  const { status, body } = await askSimulator(organizationId, `/googlecalendar/calendar/v3/calendars/primary/events/${eventId}`);
  return status === 200 ? body : null;
}

/** The rows of a sheet that are behind row `after`, as texts. */
export async function readRowsAfter(
  organizationId: number,
  after: number,
  { file = 'simulated-leads', tab = 'Leads' } = {},
): Promise<string[][]> {
  const range = encodeURIComponent(`'${tab}'!A${after + 1}:Z1000`);
  const { body } = await askSimulator(organizationId, `/googlesheets/v4/spreadsheets/${file}/values/${range}`);
  return body.values ?? [];
}

/** The number of rows of the seeded sheet of leads, with its header. */
export const leadRowCount = 121;
