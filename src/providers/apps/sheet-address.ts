export interface SheetAddress {
  spreadsheetId: string;
  /** The tab that the address shows. */
  tabId?: number;
}

/** Published sheets, `/d/e/...`, have another kind of id, which cannot be read. */
const spreadsheetPath = /^\/spreadsheets\/(?:u\/\d+\/)?d\/([\w-]{5,})(?:\/|$)/;

/** Parses the address of a spreadsheet in a browser; null: it is none. */
export function parseSheetUrl(text: string): SheetAddress | null {
  if (!URL.canParse(text.trim())) return null;
  const url = new URL(text.trim());
  const spreadsheetId = spreadsheetPath.exec(url.pathname)?.[1];
  if (url.hostname !== 'docs.google.com' || spreadsheetId === undefined) return null;
  const tab = /(?:^|[#&?])gid=(\d{1,15})(?:&|#|$)/.exec(`${url.hash}&${url.search}`)?.[1];
  return { spreadsheetId, ...(tab !== undefined && { tabId: Number(tab) }) };
}

export const sheetUrl = (spreadsheetId: string): string => `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit`;
