import type { Context } from '../../context.ts';
import { tracker, type Issue } from '../../providers/apps/tracker.ts';
import type { TrackerData } from '../contract.ts';
import { actionFailure, withConnection, type ActionFailure } from './run-action.ts';

export interface IssueRequest {
  /** Key; null: the integration's default project. */
  project: string | null;
  /** Name or id; null: the integration's default issue type, or else `Task`. */
  issueType: string | null;
  summary: string;
  description: string | null;
  /** Further fields of the tracker, in the tracker's own format. */
  fields: Record<string, unknown>;
  /** Identifies the issue for good, also among other installations of this service. */
  key: string;
  /** An earlier try with this key may have created the issue, so the tracker is searched first. */
  mayExist: boolean;
}

const defaultIssueType = 'Task';

/** Creates an issue, or returns the one that an earlier try has created. */
export const createIssue = (context: Context, { mayExist, ...wanted }: IssueRequest): Promise<Issue | ActionFailure> =>
  withConnection(context, 'tracker', async ({ integration, connection }) => {
    const usual = integration.providerData as TrackerData;
    const project = wanted.project ?? usual.project;
    if (project === undefined) return noProjectFailure(integration.id);
    const adapter = tracker(connection, { subdomain: integration.connectionParams['subdomain'] ?? '' });
    const { summary, description, fields, key } = wanted;
    const issueType = wanted.issueType ?? usual.issue_type ?? defaultIssueType;
    const outcome = await adapter.createIssue(
      { project, issueType, summary, description: description ?? undefined, fields, key },
      { mayExist },
    );
    return 'failure' in outcome ? outcome : outcome.issue;
  });

const noProjectFailure = (id: number) =>
  actionFailure(
    'no_project',
    `No project is named, and the tracker has no default one; choose it with PUT /integration/${id} { "project": ... }`,
  );
