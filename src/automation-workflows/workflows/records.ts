import type { z } from '@hono/zod-openapi';
import { nullableTimestamp, toTimestamp } from '../../library/time/clock.ts';
import type { VersionRecord, WorkflowRecord } from './schemas.ts';
import { maskSecrets } from '../../expressions/secrets/secrets.ts';
import type { WorkflowRow } from '../definitions/store.ts';
import type { VersionRow } from './store.ts';
import { workflowWarnings } from './warnings.ts';

const parseMasked = (json: string) => maskSecrets(JSON.parse(json) as Record<string, unknown>);

export function workflowRecord(row: WorkflowRow): z.infer<typeof WorkflowRecord> {
  const definition = parseMasked(row.definition);
  const trigger = parseMasked(row.trigger);
  const settings = JSON.parse(row.settings) as Record<string, unknown>;
  return {
    id: row.id,
    organization_id: row.organization_id,
    name: row.name,
    description: row.description,
    version: row.version,
    status: row.status,
    definition,
    trigger,
    context_schema: JSON.parse(row.context_schema) as Record<string, unknown>,
    settings,
    warnings: workflowWarnings({ definition, settings, trigger }),
    created_at: toTimestamp(row.created_at),
    updated_at: nullableTimestamp(row.updated_at),
    runs_count: row.runs_count,
    active_runs_count: row.active_runs_count,
  };
}

export const versionRecord = (row: VersionRow): z.infer<typeof VersionRecord> => ({
  version: row.version,
  definition: parseMasked(row.definition),
  created_at: toTimestamp(row.created_at),
});
