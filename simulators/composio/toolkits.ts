/** What can be connected, and what a person who consents grants unless they grant less. */
export interface Toolkit {
  slug: string;
  scopes: string[];
  /** Connection fields of which one has to be there. */
  requires: string[];
  /** Hosts of the vendor, and which simulated one answers there. */
  vendors: { host: RegExp; path: string; name: string }[];
  scheme: string;
}

const google = 'https://www.googleapis.com/auth/';

/** By the id of their auth config. */
export const toolkits: Record<string, Toolkit> = {
  ac_slack: {
    slug: 'slack',
    scopes: ['channels:read', 'groups:read', 'chat:write', 'chat:write.public', 'users:read'],
    requires: [],
    vendors: [{ host: /^slack\.com$/, path: '/api/', name: 'slack' }],
    scheme: 'Bearer',
  },
  ac_jira: {
    slug: 'jira',
    scopes: ['read:jira-work', 'write:jira-work', 'read:jira-user', 'offline_access'],
    requires: ['subdomain', 'your-domain'],
    vendors: [{ host: /^api\.atlassian\.com$/, path: '/', name: 'jira' }],
    scheme: 'Bearer',
  },
  ac_googlecalendar: {
    slug: 'googlecalendar',
    scopes: [`${google}calendar`],
    requires: [],
    vendors: [{ host: /^www\.googleapis\.com$/, path: '/calendar/', name: 'googlecalendar' }],
    scheme: 'Bearer',
  },
  ac_googlesheets: {
    slug: 'googlesheets',
    scopes: [`${google}spreadsheets`, `${google}drive.readonly`],
    requires: [],
    vendors: [
      { host: /^sheets\.googleapis\.com$/, path: '/v4/', name: 'googlesheets' },
      { host: /^www\.googleapis\.com$/, path: '/drive/', name: 'googlesheets' },
    ],
    scheme: 'Bearer',
  },
  ac_zohobooks: {
    slug: 'zoho_books',
    scopes: ['ZohoBooks.settings.READ', 'ZohoBooks.contacts.READ', 'ZohoBooks.contacts.CREATE', 'ZohoBooks.contacts.UPDATE'],
    requires: ['extension', 'suffix.one'],
    vendors: [{ host: /^www\.zohoapis\.(?:com|eu|in|com\.au|jp|ca|sa|com\.cn)$/, path: '/books/', name: 'zohobooks' }],
    scheme: 'Zoho-oauthtoken',
  },
};
