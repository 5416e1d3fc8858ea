/**
 * The value that `create` makes when it is first asked for. For what takes time to make and belongs to a module: what a module makes
 * when it is loaded, every start of the Worker makes.
 */
export function lazily<T>(create: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: create() }).value;
}
