/**
 * A time of day as `HH:MM`. `H:MM`, and seconds that are 00, are read, too; any other text is given back as it is.
 * @example normalizeTimeOfDay('9:00:00') // '09:00'
 */
export function normalizeTimeOfDay(text: string): string {
  const match = /^\s*(\d{1,2}):(\d{2})(?::00)?\s*$/.exec(text);
  return match ? `${match[1]!.padStart(2, '0')}:${match[2]}` : text;
}
