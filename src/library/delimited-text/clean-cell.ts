/** The text of a cell without blanks around it and without the marks by which spreadsheets keep a number as text (`'00123`, `="00123"`). */
export function cleanCell(cell: string): string {
  const trimmed = cell.trim();
  const text = trimmed.includes('\r') ? trimmed.replace(/\r\n?/g, '\n') : trimmed;
  if (text[0] !== '=' && text[0] !== "'") return text;
  return text.replace(/^="([^"]*)"$/, '$1').replace(/^'(?=[=+\-@\d(＋０-９])/, '');
}
