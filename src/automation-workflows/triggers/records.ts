import type { z } from '@hono/zod-openapi';
import { nullableTimestamp, toTimestamp } from '../../library/time/clock.ts';
import { collectWarnings } from '../../library/json/config-object.ts';
import type { TriggerRecord } from './schemas.ts';
import { maskSecrets } from '../../expressions/secrets/secrets.ts';
import { triggerConfigs } from './configs.ts';
import type { TriggerRow } from './store.ts';

/** The record of a trigger. `apiUrl` is the public base of the API, for the address of a webhook. */
export function triggerRecord(row: TriggerRow, apiUrl: string): z.infer<typeof TriggerRecord> {
  const config = maskSecrets(JSON.parse(row.config) as Record<string, unknown>);
  return {
    id: row.id,
    uuid: row.uuid,
    organization_id: row.organization_id,
    automation_workflow_id: row.workflow_id,
    type: row.type,
    name: row.name,
    config,
    warnings: collectWarnings(triggerConfigs[row.type], config, ['body', 'config']),
    state: row.state,
    ...(row.type === 'webhook' ? { webhook_url: webhookUrl(apiUrl, row.uuid) } : {}),
    next_fire_at: nullableTimestamp(row.next_fire_at),
    last_fired_at: nullableTimestamp(row.last_fired_at),
    fire_count: row.fire_count,
    last_error: row.last_error,
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
  };
}

export const webhookUrl = (apiUrl: string, uuid: string): string => `${apiUrl}/automation-workflows/webhook/${uuid}`;
