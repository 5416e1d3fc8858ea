import { z } from 'zod';
import { sha256Hex } from '../../library/security/hash.ts';
import type { AppFailure } from '../broker/broker.ts';
import { isOriginMismatch } from '../broker/composio-endpoint.ts';
import { appFailure } from '../broker/app-failure.ts';
import { toAtlassianDocument } from './atlassian-document.ts';
import { createAppClient, type AppCall, type AppConnection } from './app-client.ts';
import { percentEncoded } from '../../library/text/clean-text.ts';

interface Project {
  id: string;
  key: string;
  name: string;
}

interface IssueType {
  id: string;
  name: string;
  isSubtask: boolean;
}

export interface IssueToCreate {
  /** The project's key. */
  project: string;
  /** Name or id of an issue type. */
  issueType: string;
  /** Cut to one line of 255 characters. */
  summary: string;
  /** Plain text. */
  description?: string | undefined;
  labels?: string[] | undefined;
  /**
   * Further fields in the tracker's own format, such as `priority: { name: 'High' }`. The properties above override them, and labels are
   * merged.
   */
  fields?: Record<string, unknown> | undefined;
  /** Identifies the issue for good, through a label made of the key. */
  key: string;
}

export interface Issue {
  id: string;
  key: string;
  /** The page of the issue for people. */
  url: string;
}

export interface Tracker {
  listProjects(): Promise<{ projects: Project[]; isComplete: boolean } | AppFailure>;
  /** The issue types of a project (key or id), or of all projects that the connected user can see. */
  listIssueTypes(project?: string): Promise<{ issueTypes: IssueType[] } | AppFailure>;
  /** Creates an issue. `mayExist`: an earlier try with this key has an unknown outcome, so the issue is searched first. */
  createIssue(issue: IssueToCreate, options?: { mayExist?: boolean }): Promise<{ issue: Issue } | AppFailure>;
}

const gateway = 'https://api.atlassian.com';
const pageSize = 100;
const maxPages = 20;
const maxSummaryLength = 255;

const Sites = z.array(z.object({ id: z.string(), url: z.string() }));
const ProjectPage = z.object({
  values: z.array(z.object({ id: z.string(), key: z.string(), name: z.string() })),
  startAt: z.int(),
  isLast: z.boolean().optional(),
  total: z.int().optional(),
});
const IssueTypes = z.array(z.object({ id: z.string(), name: z.string(), subtask: z.boolean().default(false) }));
const IssueTypePage = z.object({
  issueTypes: IssueTypes,
  startAt: z.int(),
  total: z.int(),
});
const Created = z.object({ id: z.string(), key: z.string() });
const Found = z.object({ issues: z.array(Created).default([]) });

/** The label by which an issue of this key is found. Labels have no blanks. */
export const toIssueLabel = (key: string): string => `va-${sha256Hex(key).slice(0, 32)}`;

/**
 * Jira Cloud, REST API 3 (https://developer.atlassian.com/cloud/jira/platform/rest/v3). `subdomain`: the part of the address before
 * `.atlassian.net`.
 */
export function tracker(connection: AppConnection, { subdomain }: { subdomain: string }): Tracker {
  const ask = createAppClient('tracker', connection);
  const siteUrl = `https://${subdomain.toLowerCase()}.atlassian.net`;
  let base: string | undefined;

  /** Sends a request to the site, whose id in the gateway is looked up first. */
  async function onSite<Data>(call: Omit<AppCall, 'url'> & { path: string }, shape: z.ZodType<Data>): Promise<{ data: Data } | AppFailure> {
    const { path, ...request } = call;
    if (base === undefined) {
      const found = await baseOfSite();
      if ('failure' in found) return found;
      ({ base } = found);
    }
    return ask({ ...request, url: base + path }, shape);
  }

  async function baseOfSite(): Promise<{ base: string } | AppFailure> {
    const sites = await ask({ method: 'GET', url: `${gateway}/oauth/token/accessible-resources` }, Sites);
    // This connection uses the site's own address instead of the gateway.
    if ('failure' in sites && isOriginMismatch(sites)) return { base: `${siteUrl}/rest/api/3` };
    if ('failure' in sites) return sites;
    const site = sites.data.find(({ url }) => url.toLowerCase().replace(/\/+$/, '') === siteUrl);
    if (site === undefined)
      return appFailure('insufficient_permissions', `the connection does not cover ${siteUrl}; connect it again and choose it`);
    return { base: `${gateway}/ex/jira/${percentEncoded(site.id)}/rest/api/3` };
  }

  async function find(label: string): Promise<{ issue: Issue | null } | AppFailure> {
    const query = { jql: `labels = "${label}"`, fields: 'summary', maxResults: '1' };
    const answer = await onSite({ method: 'GET', path: '/search/jql', query }, Found);
    if ('failure' in answer) return answer;
    const first = answer.data.issues[0];
    return { issue: first === undefined ? null : issueOf(first) };
  }

  const create = (fields: object) => onSite({ method: 'POST', path: '/issue', body: { fields } }, Created);

  const issueOf = ({ id, key }: z.output<typeof Created>): Issue => ({ id, key, url: `${siteUrl}/browse/${key}` });

  return {
    async listProjects() {
      const projects: Project[] = [];
      for (let page = 0; page < maxPages; page++) {
        const query = { startAt: String(projects.length), maxResults: String(pageSize), orderBy: 'name', action: 'create' };
        const answer = await onSite({ method: 'GET', path: '/project/search', query }, ProjectPage);
        if ('failure' in answer) return answer;
        const { values, isLast, total } = answer.data;
        projects.push(...values);
        if (isLast === true || values.length === 0 || (isLast === undefined && projects.length >= (total ?? 0)))
          return { projects, isComplete: true };
      }
      return { projects, isComplete: false };
    },

    async listIssueTypes(project) {
      if (project === undefined) {
        const answer = await onSite({ method: 'GET', path: '/issuetype' }, IssueTypes);
        return 'failure' in answer ? answer : { issueTypes: answer.data.map(toIssueType) };
      }
      const issueTypes: IssueType[] = [];
      for (let page = 0; page < maxPages; page++) {
        const path = `/issue/createmeta/${percentEncoded(project)}/issuetypes`;
        const query = { startAt: String(issueTypes.length), maxResults: String(pageSize) };
        const answer = await onSite({ method: 'GET', path, query }, IssueTypePage);
        if ('failure' in answer) return answer;
        issueTypes.push(...answer.data.issueTypes.map(toIssueType));
        if (answer.data.issueTypes.length === 0 || issueTypes.length >= answer.data.total) break;
      }
      return { issueTypes };
    },

    async createIssue({ project, issueType, summary, description, labels = [], fields: others = {}, key }, { mayExist = false } = {}) {
      const label = toIssueLabel(key);
      if (mayExist) {
        const known = await find(label);
        if ('failure' in known) return { ...known, outcomeUnknown: true };
        if (known.issue !== null) return { issue: known.issue };
      }
      const document = toAtlassianDocument(description ?? '');
      const fields = {
        ...others,
        project: { key: project },
        issuetype: /^\d+$/.test(issueType) ? { id: issueType } : { name: issueType },
        summary: toSummary(summary),
        ...(document.content.length > 0 && { description: document }),
        labels: [...new Set([...[...labels, ...toTexts(others['labels'])].map(toLabel).filter(Boolean), label])],
      };
      let answer = await create(fields);
      if ('failure' in answer && rejectsLabels(answer)) {
        // The project's screen has no labels: create the issue without one, although it cannot be found again.
        const { labels: _labels, ...unlabelled } = fields;
        answer = await create(unlabelled);
      }
      return 'failure' in answer ? answer : { issue: issueOf(answer.data) };
    },
  };
}

const rejectsLabels = ({ failure, message }: AppFailure): boolean => failure === 'rejected' && /\blabels\b/i.test(message);

const toIssueType = ({ id, name, subtask }: z.output<typeof IssueTypes>[number]): IssueType => ({ id, name, isSubtask: subtask });

const toTexts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

const toLabel = (text: string): string => text.trim().replace(/\s+/g, '-');

function toSummary(text: string): string {
  const characters = [...text.replace(/\s+/g, ' ').trim()];
  return characters.length <= maxSummaryLength ? characters.join('') : `${characters.slice(0, maxSummaryLength - 1).join('')}…`;
}
