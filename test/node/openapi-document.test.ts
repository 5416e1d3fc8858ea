import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { publishedDocument } from '../../src/openapi/published-document.ts';

test('the OpenAPI document is a valid OpenAPI 3.1 document', async () => {
  const validator = new Validator();
  const result = await validator.validate(JSON.parse(JSON.stringify(publishedDocument(createApp()))));
  expect(result.errors).toBeUndefined();
  expect(result.valid).toBe(true);
  expect(validator.version).toBe('3.1');
});
