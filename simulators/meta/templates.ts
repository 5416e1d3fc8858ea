import { namesOf, placeholdersOf, type SimulatedTemplate } from '../messaging/catalogue.ts';
import { badParameter } from './errors.ts';

const knownFields = new Set([
  'id',
  'name',
  'status',
  'category',
  'language',
  'components',
  'parameter_format',
  'quality_score',
  'rejected_reason',
]);
const knownQuery = new Set(['fields', 'status', 'name', 'language', 'category', 'limit', 'after', 'before']);

/** A page of `GET /{waba id}/message_templates`. Throws MetaError. */
export function listTemplates(catalogue: SimulatedTemplate[], url: URL): object {
  const query = url.searchParams;
  const unknown = [...query.keys()].find((name) => !knownQuery.has(name));
  if (unknown !== undefined) throw badParameter(`Unknown parameter: ${unknown}`);
  const fields = query.get('fields')?.split(',') ?? ['name', 'parameter_format', 'components', 'language', 'status', 'category'];
  const wrong = fields.find((field) => !knownFields.has(field));
  if (wrong !== undefined) throw badParameter(`Tried accessing nonexisting field (${wrong})`);
  const limit = Number(query.get('limit') ?? 25);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) throw badParameter('limit must be from 1 to 1000');

  const found = catalogue.filter(
    (template) =>
      (query.get('status') ?? template.status.toUpperCase()) === template.status.toUpperCase() &&
      (query.get('name') ?? template.name) === template.name,
  );
  const start = offsetOf(query.get('after'));
  const end = start + limit;
  const cursors = { before: cursorOf(start), after: cursorOf(end) };
  const next = new URL(url);
  next.searchParams.set('after', cursors.after);
  return {
    data: found.slice(start, end).map((template) => shown(template, fields)),
    ...(found.length > 0 && { paging: { cursors, ...(end < found.length && { next: next.href }) } }),
  };
}

const cursorOf = (offset: number) => Buffer.from(`offset:${offset}`).toString('base64url');

function offsetOf(cursor: string | null): number {
  if (cursor === null) return 0;
  const [, offset] = /^offset:(\d+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (offset === undefined) throw badParameter('Invalid cursors values');
  return Number(offset);
}

function shown(template: SimulatedTemplate, fields: string[]): object {
  const names = namesOf(template);
  const isByName = template.is_named;
  const numbers = placeholdersOf(template);
  const text = isByName
    ? template.body.replace(/\{\{(\d+)\}\}/g, (_whole, number: string) => `{{${names[numbers.indexOf(number)]}}}`)
    : template.body;
  const all: Record<string, unknown> = {
    name: template.name,
    status: template.status.toUpperCase(),
    category: template.category,
    language: template.language,
    parameter_format: isByName ? 'NAMED' : 'POSITIONAL',
    components: [{ type: 'BODY', text, ...(numbers.length > 0 && { example: { body_text: [names] } }) }],
    quality_score: { score: 'GREEN' },
    rejected_reason: template.status === 'rejected' ? 'INVALID_FORMAT' : 'NONE',
  };
  return Object.fromEntries([...Object.entries(all).filter(([name]) => fields.includes(name)), ['id', template.id]]);
}
