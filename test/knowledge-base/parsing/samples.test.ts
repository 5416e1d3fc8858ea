import { expect, test } from 'vitest';
import { parse } from '../../../src/knowledge-base/parsing/parse.ts';
import { documentBytes, documentNames } from '../../fixtures/documents/documents.ts';

test.each(documentNames)('%s', async (name) => {
  const t = Date.now();
  const d = await parse(documentBytes(name), name).catch((e) => e);
  console.log(name, d.blocks?.length ?? d, Date.now() - t);
  expect(1).toBe(1);
});
