import { documentProblem } from './document.ts';
import { JiraError } from './errors.ts';
import { issueTypes, projectOf, unlabelledProject } from './projects.ts';

export interface StoredIssue {
  id: string;
  key: string;
  fields: Record<string, unknown> & { labels: string[] };
}

const knownFields = new Set(['project', 'issuetype', 'summary', 'description', 'labels', 'priority', 'duedate', 'assignee']);
const maxSummaryLength = 255;

/** Creates an issue of a request's body in `issues`. Throws JiraError. */
export function createIssue(body: Record<string, unknown>, issues: StoredIssue[]): StoredIssue {
  const fields = recordOf(body['fields']);
  if (fields === undefined) throw new JiraError(400, ['Invalid request payload. Refer to the REST API documentation and try again.']);
  const project = projectOf(nameIn(fields['project'], 'key', 'id'));
  const wantedType = nameIn(fields['issuetype'], 'id', 'name');
  const errors = {
    ...Object.fromEntries(
      Object.keys(fields)
        .filter((name) => !knownFields.has(name) || (name === 'labels' && project?.key === unlabelledProject))
        .map((name) => [name, `Field '${name}' cannot be set. It is not on the appropriate screen, or unknown.`]),
    ),
    ...(project === undefined && { project: 'valid project is required' }),
    ...(!issueTypes.some(({ id, name }) => id === wantedType || name === wantedType) && { issuetype: 'Specify a valid issue type' }),
    ...summaryProblem(fields['summary']),
    ...labelsProblem(fields['labels'] ?? []),
    ...('description' in fields && descriptionProblem(fields['description'])),
  };
  if (Object.keys(errors).length > 0) throw new JiraError(400, [], errors);
  const number = issues.filter(({ key }) => key.startsWith(`${project!.key}-`)).length + 1;
  const labels = (fields['labels'] ?? []) as string[];
  const issue = { id: String(20_000 + issues.length), key: `${project!.key}-${number}`, fields: { ...fields, labels } };
  issues.push(issue);
  return issue;
}

const recordOf = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;

function nameIn(value: unknown, ...names: string[]): string {
  const record = recordOf(value) ?? {};
  return String(names.map((name) => record[name]).find((found) => typeof found === 'string') ?? '');
}

function summaryProblem(summary: unknown): Record<string, string> {
  if (typeof summary !== 'string' || summary.trim() === '') return { summary: 'You must specify a summary of the issue.' };
  if (/[\r\n]/.test(summary)) return { summary: 'The summary is invalid because it contains newline characters.' };
  return [...summary].length > maxSummaryLength ? { summary: `Summary must be less than ${maxSummaryLength} characters.` } : {};
}

function labelsProblem(labels: unknown): Record<string, string> {
  if (!Array.isArray(labels)) return { labels: 'data was not an array' };
  const bad = labels.find((label) => typeof label !== 'string' || /\s/.test(label) || label.length > 255);
  return bad === undefined ? {} : { labels: `The label '${String(bad)}' contains spaces which is invalid.` };
}

function descriptionProblem(description: unknown): Record<string, string> {
  const problem = documentProblem(description);
  return problem === undefined ? {} : { description: problem };
}

/** Reads the only supported query: for a label, in one project or in all. */
const labelQuery = /^(?:project\s*=\s*"?(\w+)"?\s+AND\s+)?labels\s*=\s*"([^"\s]+)"$/i;

export function searchIssues(jql: string, issues: StoredIssue[]): object {
  const [, project, label] = labelQuery.exec(jql.trim()) ?? [];
  if (label === undefined) throw new JiraError(400, [`Error in the JQL Query: '${jql}' is not understood.`]);
  const found = issues.filter(
    ({ key, fields }) => fields.labels.includes(label) && (project === undefined || key.startsWith(`${project}-`)),
  );
  return { issues: found.map(({ id, key, fields }) => ({ id, key, fields: { summary: fields['summary'] } })), isLast: true };
}
