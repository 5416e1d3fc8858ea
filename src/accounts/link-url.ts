import type { Settings } from '../settings.ts';

/**
 * The address of a link for a person. The token stands behind `#`, so that it reaches no server and no log before the page sends it. Without
 * CONSOLE_URL it is a page of this service.
 */
export const toLinkUrl = (settings: Settings, origin: string, kind: 'invitation' | 'password-reset' | 'sign-in', token: string): string =>
  `${settings.CONSOLE_URL.replace(/\/$/, '') || `${origin}/${kind === 'sign-in' ? '' : 'docs/people'}`}#${kind}=${token}`;
