/** Whether `path` is named by `pattern`, in which `*` stands for any characters, slashes included. */
export function matchesPath(pattern: string, path: string): boolean {
  const source = pattern
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${source}$`, 's').test(path);
}
