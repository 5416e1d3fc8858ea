import type { Settings } from '../../settings.ts';
import { refusal } from './guard.ts';
import { askNoNames, refuseNamesOfPrivate, type NameRefusal } from './private-names.ts';

/** What decides which addresses of customers are called. */
export interface OutsideRules {
  /** Origins that may be called although their addresses are private. */
  allowedOrigins: readonly string[];
  refusesName: NameRefusal;
}

export const outsideRules = (settings: Pick<Settings, 'ALLOWED_PRIVATE_ORIGINS' | 'DEPLOYMENT_MODE'>): OutsideRules => ({
  allowedOrigins: settings.ALLOWED_PRIVATE_ORIGINS,
  refusesName: settings.DEPLOYMENT_MODE === 'local' ? askNoNames : refuseNamesOfPrivate,
});

/** Why a URL may not be called now, or null: what `refusal` says, and where its name leads to. */
export async function refusalOfCall(url: URL, { allowedOrigins, refusesName }: OutsideRules): Promise<string | null> {
  return refusal(url, allowedOrigins) ?? (allowedOrigins.includes(url.origin) ? null : await refusesName(url));
}
