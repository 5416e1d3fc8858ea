/** The toolkits, each with the scopes that a person grants unless they grant fewer. */
export interface Toolkit {
  slug: string;
  /** The base of relative endpoints, whose domain absolute endpoints must share; `{name}` is a field of the connection. */
  baseUrl: string;
  scopes: string[];
  /** Connection fields; one of them is required. */
  requires: string[];
  /** Hosts of the vendor, each with the simulated vendor that answers there. */
  vendors: { host: RegExp; path: string; name: string; rewrite?: (url: URL) => URL }[];
  scheme: string;
}

function throughGateway({ hostname, pathname, search }: URL): URL {
  return new URL(`https://api.atlassian.com/ex/jira/cloud-of-${hostname.split('.')[0]}${pathname}${search}`);
}

const fromOlderAddress = ({ hostname, pathname, search }: URL): URL =>
  new URL(`https://www.zohoapis.${hostname.replace('books.zoho.', '')}${pathname.replace('/api/', '/books/')}${search}`);

const google = 'https://www.googleapis.com/auth/';

/** By the id of their auth config. */
export const toolkits: Record<string, Toolkit> = {
  ac_slack: {
    slug: 'slack',
    baseUrl: 'https://slack.com/api',
    scopes: ['channels:read', 'groups:read', 'chat:write', 'chat:write.public', 'users:read'],
    requires: [],
    vendors: [{ host: /^slack\.com$/, path: '/api/', name: 'slack' }],
    scheme: 'Bearer',
  },
  ac_jira: {
    slug: 'jira',
    baseUrl: 'https://api.atlassian.com',
    scopes: ['read:jira-work', 'write:jira-work', 'read:jira-user', 'offline_access'],
    requires: ['subdomain', 'your-domain'],
    vendors: [
      { host: /^api\.atlassian\.com$/, path: '/', name: 'jira' },
      // A site itself, past the gateway.
      { host: /^[a-z0-9-]+\.atlassian\.net$/, path: '/rest/', name: 'jira', rewrite: throughGateway },
    ],
    scheme: 'Bearer',
  },
  ac_googlecalendar: {
    slug: 'googlecalendar',
    baseUrl: 'https://www.googleapis.com/calendar/v3',
    scopes: [`${google}calendar`],
    requires: [],
    vendors: [{ host: /^www\.googleapis\.com$/, path: '/calendar/', name: 'googlecalendar' }],
    scheme: 'Bearer',
  },
  ac_googlesheets: {
    slug: 'googlesheets',
    baseUrl: 'https://sheets.googleapis.com/v4',
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
    baseUrl: 'https://www.zohoapis.{extension}/books/v3',
    scopes: ['ZohoBooks.settings.READ', 'ZohoBooks.contacts.READ', 'ZohoBooks.contacts.CREATE', 'ZohoBooks.contacts.UPDATE'],
    requires: ['extension', 'suffix.one'],
    vendors: [
      { host: /^www\.zohoapis\.(?:com|eu|in|com\.au|jp|ca|sa|uk|ae|com\.cn)$/, path: '/books/', name: 'zohobooks' },
      // The older address of the same API.
      { host: /^books\.zoho\.(?:com|eu|in|com\.au|jp|sa|uk|ae)$/, path: '/api/v3/', name: 'zohobooks', rewrite: fromOlderAddress },
    ],
    scheme: 'Zoho-oauthtoken',
  },
};
