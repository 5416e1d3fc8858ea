import { JiraError } from './errors.ts';

export interface Project {
  id: string;
  key: string;
  name: string;
  projectTypeKey: string;
  simplified: boolean;
}

export interface IssueType {
  id: string;
  name: string;
  subtask: boolean;
  hierarchyLevel: number;
}

export const projects: Project[] = [
  { id: '10000', key: 'OPS', name: 'Operations', projectTypeKey: 'software', simplified: true },
  { id: '10001', key: 'SALES', name: 'Sales', projectTypeKey: 'business', simplified: false },
];

/** The screen on which its issues are created has no labels. */
export const unlabelledProject = 'BARE';

/** Of every project. */
export const issueTypes: IssueType[] = [
  { id: '10001', name: 'Task', subtask: false, hierarchyLevel: 0 },
  { id: '10002', name: 'Bug', subtask: false, hierarchyLevel: 0 },
  { id: '10003', name: 'Sub-task', subtask: true, hierarchyLevel: -1 },
];

/** Of the whole site: more than any of its projects has. */
export const siteIssueTypes: IssueType[] = [...issueTypes, { id: '10004', name: 'Epic', subtask: false, hierarchyLevel: 1 }];

const bare: Project = { id: '10009', key: unlabelledProject, name: 'Bare', projectTypeKey: 'business', simplified: false };

/** A project by its key, also one that is not listed. */
export const projectOf = (idOrKey: string): Project | undefined =>
  [...projects, bare].find(({ id, key }) => id === idOrKey || key === idOrKey);

export interface Page<Item> {
  values: Item[];
  startAt: number;
  maxResults: number;
  total: number;
}

export function pageOf<Item>(all: Item[], query: Record<string, string>, most: number): Page<Item> {
  const [startAt, asked] = [Number(query['startAt'] ?? 0), Number(query['maxResults'] ?? 50)];
  if (!Number.isInteger(startAt) || startAt < 0 || !Number.isInteger(asked) || asked < 1 || asked > 100)
    throw new JiraError(400, ['startAt and maxResults must be whole numbers, maxResults from 1 to 100']);
  const maxResults = Math.min(asked, most);
  return { values: all.slice(startAt, startAt + maxResults), startAt, maxResults, total: all.length };
}
