export interface SheetAddress {
  spreadsheetId: string;
  /** Of the tab that the address shows. */
  tabId?: number;
}

/** Published sheets, `/d/e/...`, have an id of another kind, which cannot be read. */
const spreadsheetPath = /^\/spreadsheets\/(?:u\/\d+\/)?d\/([\w-]{5,})(?:\/|$)/;

/** Reads the address of a spreadsheet as a browser shows it; null when it is none. */
export function parseSheetUrl(text: string): SheetAddress | null {
  if (!URL.canParse(text.trim())) return null;
  const url = new URL(text.trim());
  const spreadsheetId = spreadsheetPath.exec(url.pathname)?.[1];
  if (url.hostname !== 'docs.google.com' || spreadsheetId === undefined) return null;
  const tab = /(?:^|[#&?])gid=(\d{1,15})(?:&|#|$)/.exec(`${url.hash}&${url.search}`)?.[1];
  return { spreadsheetId, ...(tab !== undefined && { tabId: Number(tab) }) };
}

export const sheetUrl = (spreadsheetId: string): string => `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit`;
