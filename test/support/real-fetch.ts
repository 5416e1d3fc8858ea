/**
 * What no test has replaced. The setup of the tests loads this first: whoever keeps `globalThis.fetch` later may keep a stub, and a stub that
 * passes requests on to itself goes round for ever.
 */
export const realFetch = globalThis.fetch;
