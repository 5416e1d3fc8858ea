const mebibyte = 1 << 20;

/** What a parsed document may hold, so that file and text together stay below 100 MB. About 20,000 chunks. */
export const maxCharacters = 32 * mebibyte;
export const maxBlocks = 300_000;

/** Rows of all tables, and their cells, empty ones too. */
export const maxRows = 1_000_000;
export const maxCells = 10_000_000;

/** What the parts of a docx, pptx or xlsx may unpack to, in all, in bytes and as a multiple of the file. Deflate reaches 1,032. */
export const maxUnpackedBytes = 300 * mebibyte;
export const maxUnpackedRatio = 200;
/** Below this, a ratio tells nothing: an almost empty document packs well. */
export const minBytesForRatioCheck = 10 * mebibyte;
export const maxArchiveEntries = 20_000;

/** How deep elements, objects or parts may lie in each other. Real documents stay far below. */
export const maxElementDepth = 2000;
export const maxWordTableDepth = 20;
export const maxValueDepth = 200;
export const maxPartDepth = 50;
