import type { Context } from '../context.ts';
import type { App } from '../library/connectable-apps.ts';
import { badRequest, invalidAt, notFound } from '../library/errors.ts';
import { actionTargets, isDataSource, type Integration } from './contract.ts';
import { existingIntegration } from './existing-integration.ts';
import type { IntegrationPatch } from './schemas.ts';
import { selectFile } from './sheet/select-sheet.ts';
import { changeIntegration } from './store.ts';

const settingNames = ['action', 'channel', 'project', 'issue_type'] as const;
type Setting = (typeof settingNames)[number];
const providersBySetting: Record<Setting, readonly App[]> = {
  action: actionTargets,
  channel: ['chatapp'],
  project: ['tracker'],
  issue_type: ['tracker'],
};

/** Changes settings: absent ones stay, null clears. Throws 404, and 400 for a setting that integrations of this provider do not have. */
export async function updateSettings(context: Context, id: number, patch: IntegrationPatch): Promise<Integration> {
  const integration = await existingIntegration(context, id);
  if (patch.selected_files !== undefined) return selectLegacyFile(context, integration, patch.selected_files);
  // A client that writes back a record sends its unchanged `action`, which is accepted for every provider.
  const given = settingNames.filter((name) => patch[name] !== undefined && !(name === 'action' && patch.action === integration.action));
  for (const name of given) requireSupportedProvider(integration.provider, name, providersBySetting[name]);
  if (given.length === 0) return integration;
  const { action, channel, project, issue_type } = patch;
  const providerData = Object.fromEntries(Object.entries({ channel, project, issue_type }).filter(([, value]) => value !== undefined));
  const change = { action, providerData: providerData as Record<string, string | null> };
  const changed = await changeIntegration(context.database, integration, change, context.clock());
  if (changed === null) throw notFound('Integration');
  return changed;
}

async function selectLegacyFile(context: Context, integration: Integration, files: NonNullable<IntegrationPatch['selected_files']>) {
  requireSupportedProvider(integration.provider, 'selected_files', ['sheet']);
  const [file, ...more] = files;
  if (file === undefined) throw invalidAt(['body', 'selected_files'], 'Must have one file', 'too_short');
  if (more.length > 0)
    throw invalidAt(['body', 'selected_files'], `Has ${files.length} files; one sheet is read an integration: give one`, 'too_long');
  return selectFile(context, integration, file, ['body', 'selected_files', '0']);
}

function requireSupportedProvider(provider: App, field: string, providers: readonly App[]): void {
  if (providers.includes(provider)) return;
  const what = isDataSource(provider) ? 'a data source' : 'an action target';
  throw badRequest(`${field} is for integrations of ${providers.join(', ')}; this one is of ${provider}, ${what}`);
}
