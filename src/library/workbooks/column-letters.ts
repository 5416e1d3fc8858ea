/** The name of a column, from 1: "AB" for 28. */
export function toColumnLetters(column: number): string {
  const before = Math.floor((column - 1) / 26);
  return (before === 0 ? '' : toColumnLetters(before)) + String.fromCharCode(65 + ((column - 1) % 26));
}
