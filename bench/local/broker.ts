import { simulatedAuthConfigs } from '../../scripts/local/settings.ts';

/** Of the simulated connection broker. */
export const brokerKey = 'of-the-bench';

/** What has a Worker ask the broker among these simulators. */
export const brokerVariables = (simulators: string): Record<string, string> => ({
  COMPOSIO_API_KEY: brokerKey,
  COMPOSIO_BASE_URL: `${simulators}/composio/api/v3.1`,
  COMPOSIO_AUTH_CONFIGS: simulatedAuthConfigs,
});
