const mebibyte = 1 << 20;

/** The maximum text of a document: file and text together stay below 100 MB. About 20,000 chunks. */
export const maxCharacters = 32 * mebibyte;
export const maxBlocks = 300_000;

/** The maximum rows of all tables, and cells, including empty ones. */
export const maxRows = 1_000_000;
export const maxCells = 10_000_000;

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
export const maxWordTableDepth = 20;
export const maxValueDepth = 200;
export const maxPartDepth = 50;
