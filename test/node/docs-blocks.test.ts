import { describe, expect, test } from 'vitest';
import { findDifferences, readBlocks } from '../e2e/docs-blocks.ts';

const page = `# Page

\`\`\`sh
call $API/contacts
\`\`\`
\`\`\`json
{"contacts":[],...}
\`\`\`

- In a list:

  <!-- not tried: needs an account -->
  \`\`\`sh
  npm run deploy
    --flag
  \`\`\`
`;

test('blocks are read with their answers, their lines and the reason why one is not tried', () => {
  expect(readBlocks(page)).toEqual([
    { line: 4, code: 'call $API/contacts', answers: ['{"contacts":[],...}'], notTried: null },
    { line: 14, code: 'npm run deploy\n  --flag', answers: [], notTried: 'needs an account' },
  ]);
});

describe('the answers of a block', () => {
  const shown = ['{"id":1,"name":"Spring",...}'];

  test('are as shown with other ids and more fields', () => {
    expect(findDifferences(shown, '{"id":27,"name":"Spring","state":"draft"}\n')).toEqual([]);
  });

  test.each([
    ['a field that is gone', '{"id":27,"state":"draft"}'],
    ['another text', '{"id":27,"name":"Autumn"}'],
    ['an error', '{"detail":"Contact not found","id":1,"name":"Spring"}'],
    ['one answer more', '{"id":27,"name":"Spring"}\n{"id":28,"name":"Spring"}'],
    ['none', ''],
  ])('%s is a difference', (_what, output) => {
    expect(findDifferences(shown, output)).not.toEqual([]);
  });

  test('an error that is shown has to come', () => {
    expect(findDifferences(['{"detail":"Contact not found"}'], '{"id":1}')).not.toEqual([]);
    expect(findDifferences(['{"detail":"Contact not found"}'], '{"detail":"Contact not found"}')).toEqual([]);
  });

  test('where none are shown, an error is a difference and anything else is not', () => {
    expect(findDifferences([], '{"id":1}')).toEqual([]);
    expect(findDifferences([], '{"detail":"Contact not found"}')).not.toEqual([]);
  });

  test('lines that are no JSON are there whatever their numbers are', () => {
    expect(findDifferences(['1,busy,2026-11-28T07:58:00.063Z', '...'], 'row\n7,busy,2027-01-01T00:00:00.000Z\n')).toEqual([]);
    expect(findDifferences(['1,busy'], '1,completed')).not.toEqual([]);
  });
});
