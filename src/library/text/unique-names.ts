/** Gives each name that is taken already a number: `name`, `name_2`, `name_3`. `toKey`: names of one key are the same name. */
export function createUniqueNames(toKey: (name: string) => string = (name) => name): (name: string) => string {
  const taken = new Set<string>();
  // Without it, many columns of one name would each try all numbers before theirs.
  const lastCounts = new Map<string, number>();
  return (name) => {
    let count = lastCounts.get(toKey(name)) ?? 1;
    let unique = name;
    while (taken.has(toKey(unique))) unique = `${name}_${(count += 1)}`;
    lastCounts.set(toKey(name), count);
    taken.add(toKey(unique));
    return unique;
  };
}
