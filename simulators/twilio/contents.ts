import { Hono } from 'hono';
import type { VendorBindings } from '../vendor.ts';
import { namesOf, placeholdersOf, type TemplateStore, type SimulatedTemplate } from '../messaging/catalogue.ts';
import { accountOf } from './credentials.ts';
import { badRequest } from './errors.ts';

const knownQuery = new Set(['PageSize', 'Page', 'PageToken']);
const maxPerPage = 1_000;

/** The Content API, under `/content`: templates with their approvals. */
export function contentRoutes(catalogue: TemplateStore): Hono<{ Bindings: VendorBindings }> {
  const routes = new Hono<{ Bindings: VendorBindings }>();
  routes.get('/v1/ContentAndApprovals', (c) => {
    const { accountSid } = accountOf(c.req.header('authorization'));
    const url = new URL(c.req.url);
    const unknown = [...url.searchParams.keys()].find((name) => !knownQuery.has(name));
    if (unknown !== undefined) throw badRequest(20001, `Unknown parameter: ${unknown}`);
    const [page, size] = [Number(url.searchParams.get('Page') ?? 0), Number(url.searchParams.get('PageSize') ?? 50)];
    if (!Number.isInteger(size) || size < 1 || size > maxPerPage || !Number.isInteger(page) || page < 0)
      throw badRequest(20001, `PageSize must be from 1 to ${maxPerPage}`);
    const all = catalogue.of(accountSid);
    // As the caller knows it, with the mount.
    const urlOf = (number: number) => `${url.origin}/twilio${url.pathname}?PageSize=${size}&Page=${number}`;
    return c.json({
      contents: all.slice(page * size, (page + 1) * size).map((template) => contentResource(template, accountSid)),
      meta: {
        page,
        page_size: size,
        first_page_url: urlOf(0),
        previous_page_url: page > 0 ? urlOf(page - 1) : null,
        url: urlOf(page),
        next_page_url: all.length > (page + 1) * size ? urlOf(page + 1) : null,
        key: 'contents',
      },
    });
  });
  return routes;
}

function contentResource(template: SimulatedTemplate, accountSid: string): object {
  const names = namesOf(template);
  return {
    sid: template.id,
    account_sid: accountSid,
    friendly_name: template.name,
    language: template.language,
    variables: Object.fromEntries(placeholdersOf(template).map((number, index) => [number, names[index]])),
    types: { 'twilio/text': { body: template.body } },
    approval_requests: {
      name: template.name,
      category: template.category,
      content_type: 'twilio/text',
      status: template.status,
      rejection_reason: template.status === 'rejected' ? 'INVALID_FORMAT' : '',
    },
    date_created: '2026-01-01T00:00:00Z',
    date_updated: '2026-01-01T00:00:00Z',
  };
}
