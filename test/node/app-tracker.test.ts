import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { documentProblem } from '../../simulators/jira/document.ts';
import { toAtlassianDocument } from '../../src/providers/apps/atlassian-document.ts';
import { toIssueLabel, tracker, type IssueToCreate } from '../../src/providers/apps/tracker.ts';
import { fakeConnection, startWorld, success } from './broker-world.ts';

const acme = { subdomain: 'acme' };
const issue = (more: Partial<IssueToCreate> = {}): IssueToCreate => ({
  project: 'OPS',
  issueType: 'Task',
  summary: 'Call Ada back',
  key: 'run:7:node:1',
  ...more,
});

describe('a connection that leads to the site itself', () => {
  test('is used past the gateway, which the broker does not let it call', async () => {
    const { connect, post, received } = await startWorld();
    await post('/composio/__sim/toolkits/jira', { base_url: 'https://acme.atlassian.net' });
    const { listProjects, createIssue } = tracker(await connect('tracker'), acme);
    expect(await listProjects()).toMatchObject({ projects: [{ key: 'OPS' }, { key: 'SALES' }] });
    expect(await createIssue(issue())).toMatchObject({ issue: { key: 'OPS-1' } });
    expect((await received('jira')).map(({ path }) => path)).not.toContain('/oauth/token/accessible-resources');
  });
});

test('an issue of a project without labels is created without them', async () => {
  const { connect, received } = await startWorld();
  const { createIssue } = tracker(await connect('tracker'), acme);
  expect(await createIssue(issue({ project: 'BARE', labels: ['hot'] }))).toMatchObject({ issue: { key: 'BARE-1' } });
  const posted = (await received('jira', '*/issue')).map(({ body }) => Object.keys(body.fields).includes('labels'));
  expect(posted).toEqual([true, false]);
});

describe('projects and issue types', () => {
  test('come from every page of the site that is connected, which is looked up once', async () => {
    const { connect, received } = await startWorld();
    const { listProjects, listIssueTypes } = tracker(await connect('tracker'), { subdomain: 'ACME' });
    expect(await listProjects()).toEqual({
      projects: [
        { id: '10000', key: 'OPS', name: 'Operations' },
        { id: '10001', key: 'SALES', name: 'Sales' },
      ],
      isComplete: true,
    });
    expect(await listIssueTypes('OPS')).toEqual({
      issueTypes: [
        { id: '10001', name: 'Task', isSubtask: false },
        { id: '10002', name: 'Bug', isSubtask: false },
        { id: '10003', name: 'Sub-task', isSubtask: true },
      ],
    });
    expect((await listIssueTypes()) as { issueTypes: unknown[] }).toMatchObject({ issueTypes: [{}, {}, {}, { name: 'Epic' }] });
    expect((await received('jira')).map(({ path }) => path.replace('/ex/jira/cloud-of-acme/rest/api/3', ''))).toEqual([
      '/oauth/token/accessible-resources',
      '/project/search',
      '/project/search',
      '/issue/createmeta/OPS/issuetypes',
      '/issue/createmeta/OPS/issuetypes',
      '/issuetype',
    ]);
  });

  test('of a project that is not there are refused in the words of the tracker', async () => {
    const { connect } = await startWorld();
    expect(await tracker(await connect('tracker'), acme).listIssueTypes('NOPE/../x')).toEqual({
      failure: 'rejected',
      message: "tracker: No project could be found with key 'NOPE/../x'.",
    });
  });

  test('of a site that was not granted are forbidden', async () => {
    const { connect } = await startWorld();
    const connection = await connect('tracker', { params: { subdomain: 'other' } });
    expect(await tracker(connection, acme).listProjects()).toEqual({
      failure: 'insufficient_permissions',
      message: 'the connection does not cover https://acme.atlassian.net; connect it again and choose it',
    });
  });

  test('that the scopes do not cover are forbidden, although the gateway says 401', async () => {
    const { connect } = await startWorld();
    const connection = await connect('tracker', { scopes: 'write:jira-work' });
    expect(await tracker(connection, acme).listProjects()).toMatchObject({ failure: 'insufficient_permissions', code: 'scope' });
  });
});

describe('an issue', () => {
  test('is created with a document, one line of summary, labels without blanks and the label of its key', async () => {
    const { connect, received } = await startWorld();
    const { createIssue } = tracker(await connect('tracker'), acme);
    const created = await success(
      createIssue(
        issue({ summary: ` Call\n Ada ${'x'.repeat(300)}`, description: 'One\ntwo\n\nthree', labels: ['voice call', 'voice-call', ' '] }),
      ),
    );
    expect(created.issue).toEqual({ id: '20000', key: 'OPS-1', url: 'https://acme.atlassian.net/browse/OPS-1' });
    const { fields } = (await received('jira', '*/issue'))[0]!.body;
    expect(fields).toEqual({
      project: { key: 'OPS' },
      issuetype: { name: 'Task' },
      summary: expect.stringMatching(/^Call Ada x{245}…$/),
      description: {
        type: 'doc',
        version: 1,
        content: [
          { type: 'paragraph', content: [{ type: 'text', text: 'One' }, { type: 'hardBreak' }, { type: 'text', text: 'two' }] },
          { type: 'paragraph', content: [{ type: 'text', text: 'three' }] },
        ],
      },
      labels: ['voice-call', toIssueLabel('run:7:node:1')],
    });
  });

  test('takes its type by name or by id', async () => {
    const { connect } = await startWorld();
    const { createIssue } = tracker(await connect('tracker'), acme);
    expect(await success(createIssue(issue({ issueType: '10002' })))).toMatchObject({ issue: { key: 'OPS-1' } });
    expect(await success(createIssue(issue({ issueType: 'Bug', key: 'other' })))).toMatchObject({ issue: { key: 'OPS-2' } });
  });

  test.each([
    [{ project: 'NOPE' }, 'project: valid project is required'],
    [{ issueType: 'Epic' }, 'issuetype: Specify a valid issue type'],
    [{ summary: ' \n ' }, 'summary: You must specify a summary of the issue.'],
  ])('with %j is refused in the words of the tracker', async (more, words) => {
    const { connect } = await startWorld();
    expect(await tracker(await connect('tracker'), acme).createIssue(issue(more))).toEqual({
      failure: 'rejected',
      message: `tracker: ${words}`,
    });
  });

  test('whose answer was lost is found by its label, not created again', async () => {
    const { connect, plan, received } = await startWorld();
    const { createIssue } = tracker(await connect('tracker'), acme);
    await plan({ provider: 'jira', match: { method: 'POST', path: '*/issue' }, drop_response: true });
    expect(await createIssue(issue())).toMatchObject({ failure: 'unavailable', outcomeUnknown: true });
    const found = await success(createIssue(issue(), { mayExist: true }));
    expect(found.issue.key).toBe('OPS-1');
    expect(await received('jira', '*/issue')).toHaveLength(1);
    expect((await received('jira', '*/search/jql'))[0]!.query['jql']).toBe(`labels = "${toIssueLabel('run:7:node:1')}"`);
  });

  test('whose first try never arrived is created by the second one', async () => {
    const { connect, plan, received } = await startWorld();
    const { createIssue } = tracker(await connect('tracker'), acme);
    await plan({ provider: 'jira', match: { method: 'POST', path: '*/issue' }, status: 502 });
    expect(await createIssue(issue())).toMatchObject({ failure: 'unavailable', outcomeUnknown: true });
    expect(await success(createIssue(issue(), { mayExist: true }))).toMatchObject({ issue: { key: 'OPS-1' } });
    expect(await received('jira', '*/issue')).toHaveLength(2);
  });

  test('is not created while it cannot be looked for', async () => {
    const { connect, plan, received } = await startWorld();
    const { createIssue } = tracker(await connect('tracker'), acme);
    await plan({ provider: 'jira', match: { path: '*/search/jql' }, times: 3, status: 503 });
    expect(await createIssue(issue(), { mayExist: true })).toMatchObject({ failure: 'unavailable', outcomeUnknown: true });
    expect(await received('jira', '*/issue')).toEqual([]);
  });

  test('that the person may not create is forbidden in the words of the tracker', async () => {
    const { connect, plan } = await startWorld();
    const { createIssue } = tracker(await connect('tracker'), acme);
    const body = { errorMessages: ['You do not have permission to create issues in this project.'], errors: {} };
    await plan({ provider: 'jira', match: { method: 'POST' }, status: 403, body });
    expect(await createIssue(issue())).toEqual({
      failure: 'insufficient_permissions',
      message: 'You do not have permission to create issues in this project.',
    });
  });
});

describe('fields that have no name here', () => {
  test('go along in the form of the tracker, below what has one; labels are united with those of the issue', async () => {
    const { connection, asked } = fakeConnection((request) =>
      request.url.endsWith('accessible-resources')
        ? { data: [{ id: 'c', url: 'https://acme.atlassian.net' }] }
        : { status: 201, data: { id: '1', key: 'OPS-1' } },
    );
    const fields = { priority: { name: 'High' }, labels: ['very  important', 'vip', 7], summary: 'another', project: { key: 'NOPE' } };
    await tracker(connection, acme).createIssue(issue({ labels: ['vip'], fields }));
    expect(asked[1]!.body).toEqual({
      fields: {
        priority: { name: 'High' },
        project: { key: 'OPS' },
        issuetype: { name: 'Task' },
        summary: 'Call Ada back',
        labels: ['vip', 'very-important', '7', toIssueLabel('run:7:node:1')],
      },
    });
  });

  test('that the tracker does not have are refused in its words', async () => {
    const { connect } = await startWorld();
    const made = await tracker(await connect('tracker'), acme).createIssue(issue({ fields: { nonsense: 1 } }));
    expect(made).toMatchObject({ failure: 'rejected', message: expect.stringContaining("nonsense: Field 'nonsense' cannot be set") });
  });
});

describe('paging', () => {
  test('ends where the tracker answers an empty page that is not the last', async () => {
    const { connection, asked } = fakeConnection((request) =>
      request.url.endsWith('accessible-resources')
        ? { data: [{ id: 'c', url: 'https://acme.atlassian.net/' }] }
        : { data: { values: [], startAt: 0, isLast: false, total: 7 } },
    );
    expect(await tracker(connection, acme).listProjects()).toEqual({ projects: [], isComplete: true });
    expect(asked).toHaveLength(2);
  });
});

describe('a description', () => {
  test('becomes a document that Jira takes, and loses no word', () => {
    const part = fc.oneof(fc.string(), fc.constantFrom('\n', '\r\n', '\n\n', ' \n \n', 'word'));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        const text = parts.join('');
        const document = toAtlassianDocument(text);
        expect(documentProblem(document)).toBeUndefined();
        const words = document.content.flatMap(({ content }) => content.map((node) => (node.type === 'text' ? node.text : '\n')));
        expect(words.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
      }),
    );
  });

  test('is cut where Jira would refuse it', () => {
    expect(JSON.stringify(toAtlassianDocument('x'.repeat(50_000))).length).toBeLessThan(33_000);
  });
});

test('labels of two keys differ, and hold no blanks', () => {
  expect(toIssueLabel('a b')).toMatch(/^va-[0-9a-f]{32}$/);
  expect(toIssueLabel('a b')).not.toBe(toIssueLabel('a  b'));
});
