import { urlPolicy } from '../providers/http/url-policy.ts';
import type { ModelEndpoint, ModelProvider, SettingNames } from '../providers/language-model/contract.ts';
import type { Settings } from '../settings.ts';

export type EndpointSettings = Pick<
  Settings,
  'OPENAI_BASE_URL' | 'ANTHROPIC_BASE_URL' | 'ALLOWED_PRIVATE_ORIGINS' | 'DEPLOYMENT_MODE' | 'ENCRYPTION_KEY'
>;

interface EndpointValues {
  provider: ModelProvider;
  /** Null: the address of the provider in the settings. */
  baseUrl: string | null;
  model: string;
}

/** The endpoint of an organization's model. Its own address must be public; the addresses of the settings are the operator's. */
export const toEndpoint = (
  settings: EndpointSettings,
  { provider, baseUrl, model }: EndpointValues,
  apiKey: string,
  names: SettingNames,
): ModelEndpoint => ({
  provider,
  model,
  apiKey,
  baseUrl: baseUrl ?? (provider === 'anthropic' ? settings.ANTHROPIC_BASE_URL : settings.OPENAI_BASE_URL),
  ...(baseUrl !== null && { urlPolicy: urlPolicy(settings) }),
  names,
});
