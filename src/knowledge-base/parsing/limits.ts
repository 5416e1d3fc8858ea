const mebibyte = 1 << 20;

/** The maximum text of a document: file and text together stay below 100 MB. About 20,000 chunks. */
export const maxCharacters = 32 * mebibyte;
export const maxBlocks = 300_000;

/** The maximum rows of all tables, and cells, including empty ones. */
export const maxRows = 1_000_000;
export const maxCells = 10_000_000;

/** The maximum nesting of tables, objects or parts. Real documents stay far below. */
export const maxWordTableDepth = 20;
export const maxValueDepth = 200;
export const maxPartDepth = 50;
