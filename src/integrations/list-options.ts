import type { Context } from '../context.ts';
import { chatapp } from '../providers/apps/chatapp.ts';
import { tracker } from '../providers/apps/tracker.ts';
import { requireConnection } from './connection/active-connection.ts';
import { unwrapOutcome } from './unwrap-outcome.ts';

/** The channels of the connected workspace, without archived ones. Throws 404 `not_connected`, 403 and 502. */
export async function listChannels(context: Context) {
  const { integration, connection } = await requireConnection(context, 'chatapp');
  const { channels } = await unwrapOutcome(context, integration, await chatapp(connection).listChannels());
  return channels.map((channel) => ({
    id: channel.id,
    name: channel.name,
    is_private: channel.isPrivate,
    is_member: channel.isMember,
  }));
}

/** The projects of the connected site in which issues can be created. Throws 404 `not_connected`, 403 and 502. */
export async function listProjects(context: Context) {
  const { integration, adapter } = await openTracker(context);
  const { projects } = await unwrapOutcome(context, integration, await adapter.listProjects());
  return projects;
}

/** The issue types of a project (key or id), or of the whole site. Throws 404 `not_connected`, 403 and 502. */
export async function listIssueTypes(context: Context, project: string | undefined) {
  const { integration, adapter } = await openTracker(context);
  const { issueTypes } = await unwrapOutcome(context, integration, await adapter.listIssueTypes(project));
  return issueTypes.map(({ id, name, isSubtask }) => ({ id, name, subtask: isSubtask }));
}

async function openTracker(context: Context) {
  const { integration, connection } = await requireConnection(context, 'tracker');
  return { integration, adapter: tracker(connection, { subdomain: integration.connectionParams['subdomain'] ?? '' }) };
}
