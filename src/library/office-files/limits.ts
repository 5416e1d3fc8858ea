const mebibyte = 1 << 20;

/** The maximum unpacked size of a docx, pptx or xlsx, in bytes and as a multiple of the file. Deflate reaches 1,032. */
export const maxUnpackedBytes = 300 * mebibyte;
export const maxUnpackedRatio = 200;
/** Smaller files are exempt from the ratio: an almost empty document compresses well. */
export const minBytesForRatioCheck = 10 * mebibyte;
export const maxArchiveEntries = 20_000;

/** The bytes or characters that are read at once; then requests go first. */
export const pieceLength = 1 << 16;

/** The maximum nesting of elements, objects or parts. Real documents stay far below. */
export const maxElementDepth = 2000;
