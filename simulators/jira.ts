import { Hono, type Context } from 'hono';
import { hasAnyScope, parseAuthorization, createPerCustomer, readJsonObject, type Grant } from './grants.ts';
import { JiraError } from './jira/errors.ts';
import { createIssue, searchIssues, type StoredIssue } from './jira/issues.ts';
import { issueTypes, pageOf, projectOf, projects, siteIssueTypes } from './jira/projects.ts';
import type { Vendor, VendorBindings } from './vendor.ts';

const standardSite = 'acme';
/** The vendor may return fewer than the requested number. The simulator does so, so that every client has to page. */
const maxProjects = 1;
const maxIssueTypes = 2;

/** The tracker Jira Cloud behind the gateway `api.atlassian.com`: the sites of a grant, and the REST API 3 of each. */
export const jira: Vendor = {
  name: 'jira',
  createRoutes: () => {
    const issuesOf = createPerCustomer((): StoredIssue[] => []);
    const routes = new Hono<{ Bindings: VendorBindings }>();
    const api = '/ex/jira/:cloud/rest/api/3';

    routes.get('/oauth/token/accessible-resources', (c) => {
      const grant = grantOfRequest(c);
      const scopes = grant.scopes ?? ['read:jira-work', 'write:jira-work'];
      const name = siteOf(grant);
      const site = {
        id: cloudIdOf(name),
        url: `https://${name}.atlassian.net`,
        name,
        scopes,
        avatarUrl: `https://${name}.atlassian.net/avatar`,
      };
      return c.json(scopes.some((scope) => scope.includes('jira')) ? [site] : []);
    });

    routes.get(`${api}/project/search`, (c) => {
      requireSite(c, 'read:jira-work');
      requireQuery(c, ['startAt', 'maxResults', 'orderBy', 'action', 'query', 'typeKey', 'expand']);
      const text = (c.req.query('query') ?? '').toLowerCase();
      const found = projects.filter(({ key, name }) => `${key} ${name}`.toLowerCase().includes(text));
      const { values, ...page } = pageOf(found, c.req.query(), maxProjects);
      return c.json({ self: c.req.url, ...page, isLast: page.startAt + values.length >= page.total, values });
    });
    routes.get(`${api}/issue/createmeta/:project/issuetypes`, (c) => {
      requireSite(c, 'read:jira-work');
      requireQuery(c, ['startAt', 'maxResults']);
      if (projectOf(c.req.param('project')) === undefined)
        throw new JiraError(404, [`No project could be found with key '${c.req.param('project')}'.`]);
      const { values, ...page } = pageOf(issueTypes, c.req.query(), maxIssueTypes);
      return c.json({ ...page, issueTypes: values });
    });
    routes.get(`${api}/issuetype`, (c) => {
      requireSite(c, 'read:jira-work');
      return c.json(siteIssueTypes);
    });
    routes.post(`${api}/issue`, async (c) => {
      const { customer } = requireSite(c, 'write:jira-work');
      const body = await readJsonObject(c.req.raw);
      if (body === undefined) throw new JiraError(415, ['Unsupported Media Type']);
      const { id, key } = createIssue(body, issuesOf(customer));
      return c.json({ id, key, self: `https://api.atlassian.com/ex/jira/${c.req.param('cloud')}/rest/api/3/issue/${id}` }, 201);
    });
    routes.get(`${api}/search/jql`, (c) => {
      const { customer } = requireSite(c, 'read:jira-work');
      requireQuery(c, ['jql', 'fields', 'maxResults', 'nextPageToken', 'expand']);
      return c.json(searchIssues(c.req.query('jql') ?? '', issuesOf(customer)));
    });
    routes.get(`${api}/issue/:issue`, (c) => {
      const { customer } = requireSite(c, 'read:jira-work');
      const found = issuesOf(customer).find(({ id, key }) => id === c.req.param('issue') || key === c.req.param('issue'));
      if (found === undefined) throw new JiraError(404, ['Issue does not exist or you do not have permission to see it.']);
      return c.json(found);
    });

    routes.notFound((c) => c.json({ code: 404, message: 'Not Found' }, 404));
    routes.onError((error) => {
      if (error instanceof JiraError) return error.response;
      throw error;
    });
    return routes;
  },
};

const siteOf = ({ params }: Grant): string => params?.['subdomain'] ?? standardSite;
const cloudIdOf = (site: string): string => `cloud-of-${site}`;

function grantOfRequest(c: Context): Grant {
  const grant = parseAuthorization(c.req.header('authorization'), 'Bearer');
  if (grant === 'missing' || grant === 'invalid') throw JiraError.ofGateway(401, 'Unauthorized');
  return grant;
}

function requireSite(c: Context, scope: string): Grant {
  const grant = grantOfRequest(c);
  if (c.req.param('cloud') !== cloudIdOf(siteOf(grant))) throw JiraError.ofGateway(404, 'Not Found');
  // The gateway, not the product, looks at scopes, and does so with 401.
  if (!hasAnyScope(grant, scope)) throw JiraError.ofGateway(401, 'Unauthorized; scope does not match');
  return grant;
}

function requireQuery(c: Context, known: string[]): void {
  const unknown = Object.keys(c.req.query()).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new JiraError(400, [`Unknown query parameter: ${unknown}`]);
}
