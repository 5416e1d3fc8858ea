/** R2 takes so many keys in one call. */
const keysAtOnce = 1000;

export async function deleteFiles(bucket: R2Bucket, names: string[]): Promise<void> {
  for (let start = 0; start < names.length; start += keysAtOnce) await bucket.delete(names.slice(start, start + keysAtOnce));
}

/** Deletes all files whose names begin with `prefix`. After a crash the next call deletes the rest. */
export async function deleteFolder(bucket: R2Bucket, prefix: string): Promise<void> {
  for (;;) {
    const { objects, truncated } = await bucket.list({ prefix, limit: keysAtOnce });
    await deleteFiles(
      bucket,
      objects.map(({ key }) => key),
    );
    if (!truncated) return;
  }
}
