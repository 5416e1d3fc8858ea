/** RC4, in which older files are encrypted and decrypted alike. */
export function rc4(key: Uint8Array, bytes: Uint8Array): Uint8Array {
  const box = Uint8Array.from({ length: 256 }, (_, index) => index);
  const swap = (one: number, other: number) => {
    const kept = box[one]!;
    box[one] = box[other]!;
    box[other] = kept;
  };
  for (let index = 0, other = 0; index < 256; index += 1) {
    other = (other + box[index]! + key[index % key.length]!) & 0xff;
    swap(index, other);
  }
  const result = new Uint8Array(bytes.length);
  for (let at = 0, index = 0, other = 0; at < bytes.length; at += 1) {
    index = (index + 1) & 0xff;
    other = (other + box[index]!) & 0xff;
    swap(index, other);
    result[at] = bytes[at]! ^ box[(box[index]! + box[other]!) & 0xff]!;
  }
  return result;
}
