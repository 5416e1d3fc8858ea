import type { z } from '@hono/zod-openapi';
import type { Context } from '../context.ts';
import { toTimestamp } from '../library/time/clock.ts';
import { mapCarriers, type CarrierKey } from '../providers/telephony/registry.ts';
import { maskCredentials } from './credentials.ts';
import type { TelephonyConfigRecord } from './schemas.ts';
import type { TelephonyConfigRow } from './store.ts';

type TelephonyConfigOutput = z.infer<typeof TelephonyConfigRecord>;

/** A configuration as the API shows it, with masked secrets. `apiUrl` is the address of the API. */
export async function toTelephonyConfigRecord(
  { organization, settings }: Context,
  row: TelephonyConfigRow,
  apiUrl: string,
): Promise<TelephonyConfigOutput> {
  const block = await maskCredentials(settings, organization.id, row.provider, row.credentials);
  return {
    id: row.id,
    name: row.name,
    provider: row.provider as CarrierKey,
    ...mapCarriers((key) => (key === row.provider ? block : null)),
    from_numbers: row.fromNumbers,
    inbound_workflow_id: row.inboundAgentId,
    inbound_url: `${apiUrl}/telephony/${organization.id}/${row.id}/inbound`,
    is_default: row.isDefault,
    calls_per_second: row.callsPerSecond,
    machine_detection: row.machineDetection,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  };
}
