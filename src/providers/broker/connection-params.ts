/** The data centres of Zoho, by the end of their host names (https://www.zoho.com/accounts/protocol/oauth/multi-dc.html). */
export const booksRegions = ['com', 'eu', 'in', 'com.au', 'jp', 'ca', 'sa', 'uk', 'ae', 'com.cn'] as const;
export type BooksRegion = (typeof booksRegions)[number];

export const isBooksRegion = (text: string): text is BooksRegion => (booksRegions as readonly string[]).includes(text);

const hostLabelPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/**
 * Whether a text can be the part of a tracker's address before `.atlassian.net`: one label of a host name, so that it cannot lead to
 * another host.
 */
export const isTrackerSubdomain = (text: string): boolean => hostLabelPattern.test(text);
