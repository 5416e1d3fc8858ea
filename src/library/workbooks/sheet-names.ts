const maxNames = 30;

/** `"Leads", "Notes"`. */
export function listSheetNames(names: string[]): string {
  const shown = names.slice(0, maxNames).map((name) => `"${name}"`);
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  return shown.length === 0 ? 'none' : shown.join(', ') + more;
}
