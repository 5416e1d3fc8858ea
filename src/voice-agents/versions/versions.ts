import type { Context } from '../../context.ts';
import { openSecrets } from '../../expressions/secrets/secrets.ts';
import { countLimit, cutPage, decodeCursor, type Page, type PageResult } from '../../http/pagination.ts';
import { notFound } from '../../library/errors.ts';
import { diffJson, type JsonChange } from '../../library/json/diff-json.ts';
import { truncateValue } from '../../library/json/truncate-value.ts';
import { sha256Hex } from '../../library/security/hash.ts';
import { replaceSecrets } from '../../library/security/replace-secrets.ts';
import { existingAgent, existingAgentWithDefinition, type AgentWithDefinition } from '../agents/find-agents.ts';
import { restoreContent } from '../agents/change-agent.ts';
import type { VersionContent } from '../agents/version-content.ts';
import { requireVersion } from './find-version.ts';
import { parseVersion } from './parse-version.ts';
import { findVersions, versionCountStatement, versionsStatement, type VersionRow } from './store.ts';

export interface ListedVersion extends VersionRow {
  isCurrent: boolean;
}

/** A page of the versions of an agent, newest first. Throws 404. */
export async function listVersions(context: Context, agentId: number, page: Page): Promise<PageResult<ListedVersion>> {
  const { database, organization } = context;
  const agent = await existingAgent(context, agentId);
  const wanted = { limit: page.limit + 1, offset: page.offset, before: decodeCursor(page.cursor)?.id };
  const [rows, counted] = await database.batch([
    versionsStatement(database, organization.id, agentId, wanted),
    versionCountStatement(database, organization.id, agentId, countLimit + 1),
  ]);
  const { total } = counted[0]!;
  const versions = rows.map((row) => Object.assign(row, { isCurrent: row.id === agent.current_definition_id }));
  return {
    ...cutPage(versions, page.limit, ({ id }) => ({ value: null, id })),
    total: Math.min(total, countLimit),
    totalCapped: total > countLimit,
  };
}

/** A version of an agent. Throws 404. */
export async function readVersion(context: Context, agentId: number, versionId: number): Promise<ListedVersion> {
  const agent = await existingAgent(context, agentId);
  const version = await requireVersion(context, agentId, versionId);
  return { ...version, isCurrent: version.id === agent.current_definition_id };
}

/** More differences than these are counted and not shown. */
const maxShownChanges = 1000;

export interface VersionDiff {
  from: number;
  to: number;
  changes: JsonChange[];
  total: number;
}

/**
 * The differences between two versions of an agent, from `fromId` to `toId`; undefined: to the current one. A secret that has changed is a change; its
 * value is shown as a mask. Throws 404.
 */
export async function diffVersions(context: Context, agentId: number, fromId: number, toId: number | undefined): Promise<VersionDiff> {
  const agent = await existingAgent(context, agentId);
  const to = toId ?? agent.current_definition_id;
  const versions = await findVersions(context.database, context.organization.id, agentId, [...new Set([fromId, to])]);
  const [before, after] = [versions.get(fromId), versions.get(to)];
  if (!before || !after) throw notFound('Version of the voice agent');
  const changes = diffJson(await toComparable(context, before), await toComparable(context, after));
  return { from: fromId, to, changes: changes.slice(0, maxShownChanges).map(toShownChange), total: changes.length };
}

const secretMark = 'secret of the digest ';
const shownMask = '****';

/** A version with each secret replaced by a digest: sealing a secret twice gives different bytes. */
async function toComparable(context: Context, version: VersionRow): Promise<unknown> {
  return replaceSecrets(await openVersion(context, version), ({ text }) => `${secretMark}${sha256Hex(text)}`);
}

/** All that a call uses of an agent in a version, with opened secrets. */
async function openVersion({ settings, organization }: Context, version: VersionRow): Promise<VersionContent> {
  const content = parseVersion(version);
  return { ...content, workflow_definition: await openSecrets(settings.ENCRYPTION_KEY, organization.id, content.workflow_definition) };
}

function toShownChange({ path, kind, ...values }: JsonChange): JsonChange {
  const shown = Object.entries(values).map(([side, value]) => [side, truncateValue(withoutDigests(value))]);
  return { path, kind, ...Object.fromEntries(shown) };
}

/** A copy with masks in the place of digests, also of those within the text of an address. */
function withoutDigests(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text === undefined ? value : JSON.parse(text.replaceAll(digestPattern, shownMask));
}

const digestPattern = /secret(?: |%20|\+)of(?: |%20|\+)the(?: |%20|\+)digest(?: |%20|\+)[0-9a-f]{64}/g;

/** Makes an earlier version the current one, as a new version; a version that equals the current one changes nothing. Throws 404, 409 and 422. */
export async function restoreVersion(context: Context, agentId: number, versionId: number): Promise<AgentWithDefinition> {
  const version = await readVersion(context, agentId, versionId);
  if (version.isCurrent) return existingAgentWithDefinition(context, agentId);
  return restoreContent(context, agentId, await openVersion(context, version), versionId);
}
