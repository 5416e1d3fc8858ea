import type { ExamplesByOperation } from '../http/openapi/examples.ts';

/** Requests that work in the order of the document, with their answers. */
export const simtestExamples: ExamplesByOperation = {};
