import { isDeepStrictEqual } from 'node:util';

type JsonObject = Record<string, unknown>;

/** The settings of an agent that a version holds beside its graph. */
export interface VersionSettings {
  template_context_variables: JsonObject;
  call_disposition_codes: JsonObject;
  /** Without `required_tests`. */
  workflow_configurations: JsonObject;
}

/** All that a call uses of an agent. */
export interface VersionContent extends VersionSettings {
  /** Its secrets are sealed, or opened, as its reader says. */
  workflow_definition: JsonObject;
}

/** The settings of an agent as a version holds them. `required_tests` say how changes are tested; no call uses them. */
export function toVersionSettings({
  template_context_variables,
  call_disposition_codes,
  workflow_configurations,
}: VersionSettings): VersionSettings {
  const { required_tests: _tests, ...configurations } = workflow_configurations;
  return { template_context_variables, call_disposition_codes, workflow_configurations: configurations };
}

/** Whether a change of settings makes a new version. */
export const haveSettingsChanged = (before: VersionSettings, after: VersionSettings): boolean =>
  !isDeepStrictEqual(toVersionSettings(before), toVersionSettings(after));

/** The columns of a version `d` of an agent `a` that hold its settings, under the names of the agent's columns. */
export const versionSettingsSql = `coalesce(d.template_context_variables, a.template_context_variables) AS template_context_variables,
  coalesce(d.call_disposition_codes, a.call_disposition_codes) AS call_disposition_codes,
  coalesce(d.workflow_configurations, a.workflow_configurations) AS workflow_configurations`;
