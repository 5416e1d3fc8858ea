/** R2 accepts parts of at least 5 MiB, all of one size but the last. */
const partBytes = 5 * 1024 * 1024;

/**
 * Stores a stream of unknown length in parts, with one part in memory at a time. False: the stream has more than `maxBytes` (at least a
 * part), and nothing is stored. Throws the errors of the stream and of the bucket.
 */
export async function uploadStream(
  bucket: R2Bucket,
  key: string,
  stream: AsyncIterable<Uint8Array>,
  options: R2MultipartOptions,
  maxBytes: number,
): Promise<boolean> {
  const parts = splitIntoParts(stream);
  let next = await parts.next();
  if (next.done || next.value.byteLength < partBytes) {
    await bucket.put(key, next.value ?? '', options);
    return true;
  }
  const upload = await bucket.createMultipartUpload(key, options);
  const abort = () => Promise.all([upload.abort(), parts.return(undefined)]);
  const uploaded: R2UploadedPart[] = [];
  try {
    for (let bytes = 0; !next.done; next = await parts.next()) {
      bytes += next.value.byteLength;
      if (bytes > maxBytes) {
        await abort();
        return false;
      }
      uploaded.push(await upload.uploadPart(uploaded.length + 1, next.value));
    }
    await upload.complete(uploaded);
    return true;
  } catch (error) {
    await abort();
    throw error;
  }
}

/** Cuts a stream into parts that are all full but the last. */
async function* splitIntoParts(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    waiting.push(chunk);
    length += chunk.byteLength;
    if (length < partBytes) continue;
    let bytes = Buffer.concat(waiting);
    for (; bytes.byteLength >= partBytes; bytes = bytes.subarray(partBytes)) yield bytes.subarray(0, partBytes);
    waiting = [bytes];
    length = bytes.byteLength;
  }
  if (length > 0) yield Buffer.concat(waiting);
  return undefined;
}
