import type { Context } from '../context.ts';
import { normalizePhone } from '../library/phone/phone-numbers.ts';
import { invalid, notFound, type Issue } from '../library/errors.ts';
import { carrierKeys, type CarrierKey } from '../providers/telephony/registry.ts';
import { readCredentials } from './credentials.ts';
import { configDefaults, type NewTelephonyConfig, type TelephonyConfigPatch } from './schemas.ts';
import { hasAgent, type TelephonyConfigRow, type TelephonyConfigValues } from './store.ts';

/**
 * Validates a configuration and returns its stored form. Throws 404 for an unknown agent, 422 for other problems. `now` becomes
 * `updatedAt`.
 */
export async function prepareConfig(
  context: Context,
  given: NewTelephonyConfig | (TelephonyConfigPatch & { name: string; provider: CarrierKey; from_numbers: string[] }),
  before: TelephonyConfigRow | null,
  callbackOrigin: string,
  now: number,
): Promise<TelephonyConfigValues> {
  const { organization, settings } = context;
  const { provider } = given;
  const block = await readCredentials(settings, organization.id, provider, given[provider], before && before.credentials);
  const numbers = parseNumbers(given.from_numbers, organization.defaultCountry);
  const issues = [...findForeignBlockIssues(given), ...block.issues, ...numbers.issues];
  if (issues.length) throw invalid(issues);
  return {
    name: given.name,
    provider,
    credentials: block.credentials,
    fromNumbers: numbers.phones,
    inboundAgentId: await resolveInboundAgent(context, given.inbound_workflow_id, before && before.inboundAgentId),
    callsPerSecond: valueOrBefore(given.calls_per_second, before?.callsPerSecond) ?? configDefaults.calls_per_second,
    machineDetection: valueOrBefore(given.machine_detection, before?.machineDetection) ?? configDefaults.machine_detection,
    callbackOrigin,
    updatedAt: now,
  };
}

const valueOrBefore = <T>(given: T | null | undefined, before: T | undefined): T | null | undefined =>
  given === undefined ? before : given;

/** Issues for credentials of another carrier, which would not be used. */
function findForeignBlockIssues(given: { provider: CarrierKey } & Partial<Record<CarrierKey, unknown>>): Issue[] {
  const msg = `Does not belong to a configuration whose provider is ${given.provider}; leave it out, or make another configuration for it`;
  const foreign = carrierKeys.filter((key) => key !== given.provider && given[key] != null);
  return foreign.map((key) => ({ loc: ['body', key], msg, type: 'value_error' }));
}

function parseNumbers(given: string[], defaultCountry: string): { phones: string[]; issues: Issue[] } {
  const phones = new Set<string>();
  const issues: Issue[] = [];
  for (const [index, text] of given.entries()) {
    const reading = normalizePhone(text, defaultCountry);
    if ('phone' in reading) phones.add(reading.phone);
    else issues.push({ loc: ['body', 'from_numbers', String(index)], msg: reading.detail, type: 'invalid_phone' });
  }
  return { phones: [...phones], issues };
}

async function resolveInboundAgent(context: Context, given: number | null | undefined, before: number | null): Promise<number | null> {
  if (given === undefined) return before;
  if (given !== null && !(await hasAgent(context.database, context.organization.id, given))) throw notFound('Voice agent');
  return given;
}
