import { LocalError } from './settings.ts';

const planColumns: Record<string, string> = {
  max_integrations: 'plan_max_integrations',
  max_contacts: 'plan_max_contacts',
  concurrent_call_limit: 'plan_concurrent_calls',
};

export const usage = `Usage:
  npm run organization -- show <organization id> [--remote]
  npm run organization -- set-plan <organization id> <${Object.keys(planColumns).join('|')}> <number|default> [--remote]

"default" returns to what the PLAN_* variables say. Without --remote the database of STATE_DIR is meant, with it the deployed one.`;

export interface OrganizationCommand {
  organizationId: number;
  isRemote: boolean;
  /** One statement that answers the organization's row, or none when there is no such organization. */
  sql: string;
}

const shown = `id, name, ${Object.values(planColumns).join(', ')}`;

/** Reads the command line into SQL. Every part of it is checked against a list or a number's form first, so that nothing else gets into the statement. */
export function parseOrganizationCommand(parameters: string[]): OrganizationCommand {
  const [action, id, ...rest] = parameters.filter((parameter) => parameter !== '--remote');
  const isRemote = parameters.includes('--remote');
  if (action === 'show' && rest.length === 0) {
    const organizationId = wholeNumber(id, 'The organization id', 1);
    return { organizationId, isRemote, sql: `SELECT ${shown} FROM organization WHERE id = ${organizationId}` };
  }
  if (action !== 'set-plan' || rest.length !== 2) throw new LocalError(usage);
  const organizationId = wholeNumber(id, 'The organization id', 1);
  const [key = '', value] = rest;
  const column = Object.hasOwn(planColumns, key) ? planColumns[key] : undefined;
  if (column === undefined) throw new LocalError(`"${key}" is no limit of a plan. There are: ${Object.keys(planColumns).join(', ')}.`);
  const limit = value === 'default' ? 'NULL' : wholeNumber(value, key, 0);
  return { organizationId, isRemote, sql: `UPDATE organization SET ${column} = ${limit} WHERE id = ${organizationId} RETURNING ${shown}` };
}

function wholeNumber(text: string | undefined, name: string, least: number): number {
  const number = Number(text);
  if (text !== undefined && /^\d+$/.test(text) && Number.isSafeInteger(number) && number >= least) return number;
  throw new LocalError(`${name} is "${text ?? ''}". It must be a whole number from ${least} on.\n\n${usage}`);
}
