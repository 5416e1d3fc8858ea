/** Names of columns, unique and never blank: a repeated header gets a suffix (`Name_2`), a blank one its position (`column_3`). */
export function nameHeaders(cells: string[]): string[] {
  const taken = new Set<string>();
  return cells.map((cell, index) => {
    const name = cell.replace(/\s+/g, ' ') || `column_${index + 1}`;
    let unique = name;
    for (let count = 2; taken.has(unique.toLowerCase()); count += 1) unique = `${name}_${count}`;
    taken.add(unique.toLowerCase());
    return unique;
  });
}
