import { toVersionSettings, type VersionContent, type VersionSettings } from '../agents/version-content.ts';
import type { VersionRow } from './store.ts';

const parseObject = (text: string) => JSON.parse(text) as Record<string, unknown>;

/** All that a call uses of an agent in a version. Secrets in the definition are sealed. */
export function parseVersion(row: Pick<VersionRow, 'definition' | keyof VersionSettings>): VersionContent {
  const settings = toVersionSettings({
    template_context_variables: parseObject(row.template_context_variables),
    call_disposition_codes: parseObject(row.call_disposition_codes),
    workflow_configurations: parseObject(row.workflow_configurations),
  });
  return { workflow_definition: parseObject(row.definition), ...settings };
}
