/** The dictionaries that resolve a name; each may have another object for it. */
export type NameTables = Map<string, Set<number>>[];

/** Every name with a reference behind it, and the numbers referred to. */
export function parseNames(text: string): Map<string, Set<number>> {
  const names = new Map<string, Set<number>>();
  for (const [, name = '', number] of text.matchAll(/\/([^\s\0()[\]<>{}/%]+)[\s\0]+(\d+)[\s\0]+\d+[\s\0]+R/g)) {
    const numbers = names.get(name) ?? new Set();
    names.set(name, numbers.add(Number(number)));
  }
  return names;
}

export function resolveNames(where: NameTables, ...names: string[]): Set<number> {
  const numbers = new Set<number>();
  for (const found of where) for (const name of names) for (const number of found.get(name) ?? []) numbers.add(number);
  return numbers;
}

export function* parseReferences(list: string): Generator<number> {
  for (const [, number] of list.matchAll(/(\d+)[\s\0]+\d+[\s\0]+R/g)) yield Number(number);
}
