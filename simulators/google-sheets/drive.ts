import { Hono } from 'hono';
import { z } from 'zod';
import { GoogleError, invalid } from '../google/errors.ts';
import { readBody, requireQuery, requireScope } from '../google/requests.ts';
import type { VendorBindings } from '../vendor.ts';
import { touch, type SheetFile } from './files.ts';

const sharedDrives = ['supportsAllDrives', 'includeItemsFromAllDrives'];
const readScopes = ['drive', 'drive.readonly', 'drive.metadata.readonly', 'drive.metadata', 'drive.file'];
const spreadsheetType = 'application/vnd.google-apps.spreadsheet';
const workbookType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const maxFiles = 1_000;

/** Files under `/drive/v3/files`: search, read, trash and rename. */
export function driveRoutes(filesOf: (customer: string) => SheetFile[]): Hono<{ Bindings: VendorBindings }> {
  const routes = new Hono<{ Bindings: VendorBindings }>();

  routes.get('/', (c) => {
    const { customer } = requireScope(c, ...readScopes);
    requireQuery(c, ['q', 'orderBy', 'pageSize', 'pageToken', 'fields', 'corpora', 'spaces', ...sharedDrives]);
    const matches = parseSearch(c.req.query('q') ?? '');
    const files = filesOf(customer).filter((file) => file.kind === 'spreadsheet' && matches(file));
    const isNewestFirst = orderOf(c.req.query('orderBy'));
    const sorted = isNewestFirst ? files.toSorted((one, other) => other.modifiedTime.localeCompare(one.modifiedTime)) : files;
    const size = Number(c.req.query('pageSize') ?? 100);
    if (!Number.isInteger(size) || size < 1 || size > maxFiles)
      throw invalid(`Invalid value '${size}'. Values must be within the range: [1, ${maxFiles}]`, 'invalidParameter');
    const start = readToken(c.req.query('pageToken'), sorted.length);
    const fields = fieldsOf(c.req.query('fields'));
    return c.json({
      ...(start + size < sorted.length && fields.has('nextPageToken') && { nextPageToken: tokenAt(start + size) }),
      files: sorted.slice(start, start + size).map((file) => resource(file, fields)),
    });
  });
  routes.get('/:id', (c) => {
    const { customer } = requireScope(c, ...readScopes);
    requireQuery(c, ['fields', 'acknowledgeAbuse', ...sharedDrives]);
    return c.json(resource(fileOf(filesOf(customer), c.req.param('id')), fieldsOf(c.req.query('fields'))));
  });
  routes.patch('/:id', async (c) => {
    const { customer } = requireScope(c, 'drive', 'drive.file');
    const change = await readBody(c.req.raw, z.strictObject({ name: z.string().optional(), trashed: z.boolean().optional() }));
    const file = fileOf(filesOf(customer), c.req.param('id'));
    Object.assign(file, change);
    touch(file);
    return c.json(resource(file, fieldsOf(undefined)));
  });
  return routes;
}

function fileOf(files: SheetFile[], id: string): SheetFile {
  const file = files.find((one) => one.id === id && one.kind !== 'purged');
  if (file === undefined) throw new GoogleError(404, `File not found: ${id}.`, { reason: 'notFound' });
  return file;
}

/** Without `fields`, the API answers little of a file. */
const fieldsOf = (fields: string | undefined): Set<string> =>
  new Set((fields ?? 'kind,id,name,mimeType').split(/[,()\s]+/).filter(Boolean));

function resource(file: SheetFile, fields: Set<string>): object {
  const whole: Record<string, unknown> = {
    kind: 'drive#file',
    id: file.id,
    name: file.name,
    mimeType: file.kind === 'workbook' ? workbookType : spreadsheetType,
    modifiedTime: file.modifiedTime,
    trashed: file.trashed,
    webViewLink: `https://docs.google.com/spreadsheets/d/${file.id}/edit?usp=drivesdk`,
    owners: [{ emailAddress: 'owner@example.com' }],
  };
  return Object.fromEntries(Object.entries(whole).filter(([name]) => fields.has(name)));
}

function orderOf(orderBy: string | undefined): boolean {
  if (orderBy === undefined) return false;
  if (orderBy === 'modifiedTime desc') return true;
  throw invalid(`Invalid sort key: ${orderBy}`, 'invalid');
}

/** Reads a query: clauses that find spreadsheets, joined by `and`. */
function parseSearch(q: string): (file: SheetFile) => boolean {
  const clauses = q === '' ? [] : q.split(/ and (?=(?:mimeType|trashed|name)\b)/);
  const tests = clauses.map((clause): ((file: SheetFile) => boolean) => {
    const type = /^mimeType\s*=\s*'([^']*)'$/.exec(clause);
    if (type) return ({ kind }) => (kind === 'workbook' ? workbookType : spreadsheetType) === type[1];
    const trashed = /^trashed\s*=\s*(true|false)$/.exec(clause);
    if (trashed) return (file) => String(file.trashed) === trashed[1];
    const name = /^name contains '((?:[^'\\]|\\['\\])*)'$/.exec(clause);
    if (name) return (file) => file.name.toLowerCase().includes(name[1]!.replace(/\\(.)/g, '$1').toLowerCase());
    throw invalid('Invalid Value', 'invalid');
  });
  return (file) => tests.every((test) => test(file));
}

const tokenAt = (index: number): string => `~!!~${Buffer.from(String(index)).toString('base64url')}`;

function readToken(token: string | undefined, length: number): number {
  if (token === undefined) return 0;
  const index = token.startsWith('~!!~') ? Number(Buffer.from(token.slice(4), 'base64url').toString()) : Number.NaN;
  if (!(index < length)) throw invalid('Invalid Value', 'invalid');
  return index;
}
