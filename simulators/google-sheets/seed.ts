import { toPerson } from '../people.ts';
import type { SheetFile } from './files.ts';
import type { Cell, Tab } from './grid.ts';

const leads = 120;

const tab = (id: number, title: string, cells: Cell[][], rowCount = 1_000): Tab => ({ id, title, rowCount, columnCount: 26, cells });

const file = (id: string, name: string, modifiedTime: string, tabs: Tab[]): SheetFile => ({
  id,
  name,
  modifiedTime,
  trashed: false,
  kind: 'spreadsheet',
  tabs,
});

/** The spreadsheets of a customer, the newest first; the last two are not in any list. */
export function seedFiles(): SheetFile[] {
  return [
    file('simulated-leads', 'Leads', '2026-11-02T09:00:00.000Z', [tab(0, 'Leads', leadRows()), tab(7, "Last year's", [])]),
    file('simulated-messy', 'Messy', '2026-11-01T09:00:00.000Z', [tab(0, 'Sheet 1', messyRows())]),
    { ...file('deleted', 'Deleted', '2026-10-01T09:00:00.000Z', []), kind: 'purged' },
    { ...file('workbook', 'Workbook.xlsx', '2026-10-01T09:00:00.000Z', []), kind: 'workbook' },
  ];
}

function leadRows(): Cell[][] {
  const rows = Array.from({ length: leads }, (_, index): Cell[] => {
    const { first_name, last_name, company, city, email } = toPerson(index, 'leads.example.com');
    return [`${first_name} ${last_name}`, `+1917${2_000_100 + index}`, email, company, city];
  });
  return [['Full Name', 'Mobile No.', 'E-mail', 'Company', 'City'], ...rows];
}

/** A header twice, one that is blank, a cell to the right of all headers, phones as numbers, and rows of every length. */
function messyRows(): Cell[][] {
  return [
    ['Name', 'Phone', 'Name', '', 'Notes'],
    ['Ada', 919_876_543_210, 'Lovelace', 'x', 'calls back'],
    ['Grace', '+19172005001', 'Hopper'],
    ['Edsger'],
    [],
    ['', 19_172_005_002, '', '', '', 'stray'],
    ['Alan', ' (917) 200-5003 ', 'Turing', '', '=1+1'],
    ['Barbara', 'n/a', 'Liskov', true],
  ];
}
