import type { Settings } from '../../settings.ts';
import { blockedUrlReason } from './ssrf-guard.ts';
import { skipHostnameCheck, blockPrivateHostname, type HostnameCheck } from './hostname-check.ts';

/** The policy for customers' addresses. */
export interface UrlPolicy {
  /** Origins that may be called although their addresses are private. */
  allowedOrigins: readonly string[];
  checkHostname: HostnameCheck;
}

export const urlPolicy = (settings: Pick<Settings, 'ALLOWED_PRIVATE_ORIGINS' | 'DEPLOYMENT_MODE'>): UrlPolicy => ({
  allowedOrigins: settings.ALLOWED_PRIVATE_ORIGINS,
  checkHostname: settings.DEPLOYMENT_MODE === 'local' ? skipHostnameCheck : blockPrivateHostname,
});

/** Why a URL may not be called now; null: it may. Checks the URL, then the addresses of its host name. */
export async function blockedRequestReason(url: URL, { allowedOrigins, checkHostname }: UrlPolicy): Promise<string | null> {
  return blockedUrlReason(url, allowedOrigins) ?? (allowedOrigins.includes(url.origin) ? null : await checkHostname(url));
}
