/**
 * One line of CSV, with its line end. A cell that a spreadsheet would run as a formula gets an apostrophe in front, as OWASP advises;
 * so does a phone number, which keeps its plus that way.
 */
export const formatCsvRow = (cells: string[]): string => `${cells.map(formatCell).join(',')}\r\n`;

function formatCell(cell: string): string {
  const safe = /^[=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
