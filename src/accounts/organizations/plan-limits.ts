import type { Database, Statement } from '../../database/client.ts';
import { conflict, isServiceError, type ServiceError } from '../../library/errors.ts';
import type { Organization } from '../../context.ts';
import { planLimitOf, type LimitName } from '../../plan.ts';

/** The limits that are counted along an index when a row is added. The sets are small because of these limits. */
const countedLimits = {
  max_lists: { rows: 'contact_list WHERE organization_id = ?1 AND deleted_at IS NULL', what: 'contact lists', next: 'delete some' },
  max_workflows: {
    rows: "automation_workflow WHERE organization_id = ?1 AND status IN ('draft', 'active', 'paused')",
    what: 'automation workflows',
    next: 'archive some',
  },
  max_triggers: { rows: "automation_trigger WHERE organization_id = ?1 AND state <> 'archived'", what: 'triggers', next: 'archive some' },
  max_schedules: {
    rows: "automation_trigger WHERE organization_id = ?1 AND state <> 'archived' AND type = 'schedule'",
    what: 'schedules',
    next: 'archive some',
  },
  max_voice_agents: {
    rows: "voice_agent WHERE organization_id = ?1 AND status = 'active'",
    what: 'voice agents',
    next: 'archive some',
  },
  max_telephony_configs: { rows: 'telephony_config WHERE organization_id = ?1', what: 'telephony configurations', next: 'delete some' },
  max_language_models: { rows: 'language_model WHERE organization_id = ?1', what: 'language models', next: 'delete some' },
  max_api_keys: { rows: 'api_key WHERE organization_id = ?1 AND archived_at IS NULL', what: 'API keys', next: 'revoke some' },
  max_webhook_endpoints: {
    rows: "webhook_endpoint WHERE organization_id = ?1 AND status <> 'deleted'",
    what: 'webhook endpoints',
    next: 'delete some',
  },
} as const satisfies Partial<Record<LimitName, { rows: string; what: string; next: string }>>;

export type CountedLimit = keyof typeof countedLimits;

/** The SQL condition of an insert: it holds while the plan has room for one more row. `organization` and `maximum` are its parameters. */
export const isWithinLimitSql = (name: CountedLimit, organization: string, maximum: string): string =>
  `(SELECT count(*) FROM (SELECT 1 FROM ${countedLimits[name].rows.replace('?1', organization)} LIMIT ${maximum})) < ${maximum}`;

/**
 * Fails its batch, so that nothing is written, when the organization has more than its plan allows and the statement before this one has
 * changed a row. The error contains the name of the limit, as an invalid JSON path.
 */
export const requireWithinLimit = (database: Database, organization: OrganizationPlan, name: CountedLimit): Statement =>
  database.prepare(
    `SELECT json_extract('{}', iif(changes() > 0 AND (SELECT count(*) FROM (SELECT 1 FROM ${countedLimits[name].rows} LIMIT ?2 + 1)) > ?2, ?3, '$'))`,
    organization.id,
    planLimitOf(organization.plan, name),
    name,
  );

type OrganizationPlan = Pick<Organization, 'id' | 'plan'>;

/** Runs `write`, whose batch contains `requireWithinLimit`. Throws 409 with the name of the limit when the plan has no room. */
export async function enforcePlanLimit<Written>({ plan }: OrganizationPlan, write: () => Promise<Written>): Promise<Written> {
  try {
    return await write();
  } catch (error) {
    const name = findExceededLimit(error);
    throw name ? limitReachedError(name, planLimitOf(plan, name)) : error;
  }
}

function findExceededLimit(error: unknown): CountedLimit | null {
  const named = /JSON path[^']*'(\w+)'/i.exec(String((error as Error).message))?.[1];
  return named !== undefined && named in countedLimits ? (named as CountedLimit) : null;
}

/** Whether `error` reports that the limit `name` of the plan is reached. */
export const isLimitReached = (error: unknown, name: CountedLimit): boolean =>
  isServiceError(error) && error.code === 'conflict' && error.message.includes(`(${name})`);

const limitReachedError = (name: CountedLimit, maximum: number): ServiceError =>
  conflict(`The plan allows ${maximum} ${countedLimits[name].what} (${name}); ${countedLimits[name].next}, or have the plan raised`);
