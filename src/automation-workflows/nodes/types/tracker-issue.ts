import { z } from 'zod';
import { configObject } from '../../../library/json/config-object.ts';
import { renderDeep, renderText } from '../../../expressions/templates/render.ts';
import { performAppAction } from '../shared/app-action.ts';
import { actionHandles, defineNode, failure, type Step } from '../contract.ts';

/** Fields of the tracker that the node's data has keys for, by the tracker's names. */
const reservedFields: Record<string, string> = {
  project: 'project',
  issuetype: 'issue_type',
  summary: 'summary',
  description: 'description',
};

const optionalText = z.string().min(1).max(1000).nullish();

const TrackerIssueData = configObject({
  project: optionalText,
  issue_type: optionalText,
  summary: z.string().min(1).max(2000),
  description: z.string().max(50_000).nullish(),
  fields: z
    .record(z.string(), z.unknown())
    .superRefine((fields, context) => {
      for (const name of Object.keys(fields))
        if (Object.hasOwn(reservedFields, name))
          context.addIssue({ code: 'custom', path: [name], message: `Give it as ${reservedFields[name]} beside fields, not in them` });
    })
    .default({}),
});
type TrackerIssueData = z.infer<typeof TrackerIssueData>;

export const trackerIssueNode = defineNode<TrackerIssueData>({
  type: 'tracker_issue',
  label: 'Issue',
  description:
    'Makes an issue in the connected tracker: in `project` (a key) with `issue_type` (a name or an id), each else the integration\'s default one, and without that a `Task`; `summary` becomes one line of at most 255 characters, `description` is plain text, `fields` are others of the tracker in its own form, such as `{ "priority": { "name": "High" }, "labels": ["vip"] }`. The output has id, key and url. The issue carries a label of its own, by which a repeat after a crash or a lost answer finds it.',
  dataSchema: TrackerIssueData,
  handles: actionHandles,
  isSideEffect: true,
  example: {
    project: 'OPS',
    issue_type: 'Task',
    summary: 'Call {{ contact.first_name }} back',
    description: '{{ steps.call.summary }}',
    fields: { priority: { name: 'High' } },
  },
  run: async (step) => {
    const { data, scope, effects, key, mayHaveHappened } = step;
    const project = renderOptional(step, data.project);
    if (project === '')
      return failure('no_project', `project: ${JSON.stringify(data.project)} renders to nothing; name a project by its key`);
    const summary = renderText(data.summary, scope).replace(/\s+/g, ' ').trim();
    if (summary === '') return failure('no_summary', 'summary renders to nothing, and an issue needs one');
    const issue = {
      project,
      issueType: renderOptional(step, data.issue_type) || null,
      summary,
      description: data.description == null ? null : renderText(data.description, scope),
      fields: renderDeep(data.fields, scope) as Record<string, unknown>,
    };
    const { issueType: issue_type, ...rest } = issue;
    return performAppAction(step, { request: { ...rest, issue_type }, isLookedUp: true }, () =>
      effects.createIssue(key, { ...issue, mayExist: mayHaveHappened }),
    );
  },
});

/** Null when the template is absent: the integration's default applies. */
const renderOptional = ({ scope }: Step, template: string | null | undefined): string | null =>
  template == null ? null : renderText(template, scope).trim();
