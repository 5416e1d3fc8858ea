import type { Context } from '../context.ts';
import { normalizeOwnNumber } from '../library/phone/phone-numbers.ts';
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
  input: NewTelephonyConfig | (TelephonyConfigPatch & { name: string; provider: CarrierKey; from_numbers: string[] }),
  before: TelephonyConfigRow | null,
  callbackOrigin: string,
  now: number,
): Promise<TelephonyConfigValues> {
  const { organization, settings } = context;
  const { provider } = input;
  const block = await readCredentials(settings, organization.id, provider, input[provider], before && before.credentials);
  const numbers = parseNumbers(input.from_numbers, organization.defaultCountry);
  const issues = [...findForeignBlockIssues(input), ...block.issues, ...numbers.issues];
  if (issues.length) throw invalid(issues);
  return {
    name: input.name,
    provider,
    credentials: block.credentials,
    fromNumbers: numbers.phones,
    inboundAgentId: await resolveInboundAgent(context, input.inbound_workflow_id, before && before.inboundAgentId),
    callsPerSecond: valueOrBefore(input.calls_per_second, before?.callsPerSecond) ?? configDefaults.calls_per_second,
    machineDetection: valueOrBefore(input.machine_detection, before?.machineDetection) ?? configDefaults.machine_detection,
    callbackOrigin,
    updatedAt: now,
  };
}

const valueOrBefore = <T>(input: T | null | undefined, before: T | undefined): T | null | undefined =>
  input === undefined ? before : input;

/** Issues for credentials of another carrier, which would not be used. */
function findForeignBlockIssues(input: { provider: CarrierKey } & Partial<Record<CarrierKey, unknown>>): Issue[] {
  const msg = `Does not belong to a configuration whose provider is ${input.provider}; leave it out, or make another configuration for it`;
  const foreign = carrierKeys.filter((key) => key !== input.provider && input[key] != null);
  return foreign.map((key) => ({ loc: ['body', key], msg, type: 'value_error' }));
}

function parseNumbers(input: string[], defaultCountry: string): { phones: string[]; issues: Issue[] } {
  const phones = new Set<string>();
  const issues: Issue[] = [];
  for (const [index, text] of input.entries()) {
    const reading = normalizeOwnNumber(text, defaultCountry);
    if ('phone' in reading) phones.add(reading.phone);
    else issues.push({ loc: ['body', 'from_numbers', String(index)], msg: reading.detail, type: 'invalid_phone' });
  }
  return { phones: [...phones], issues };
}

async function resolveInboundAgent(context: Context, input: number | null | undefined, before: number | null): Promise<number | null> {
  if (input === undefined) return before;
  if (input !== null && !(await hasAgent(context.database, context.organization.id, input))) throw notFound('Voice agent');
  return input;
}
