import type { Issue } from '../library/errors.ts';
import type { AbilityTest, ModelTest, TestFailure } from './test-model.ts';
import { purposeThatNeeds, type PurposeOrder } from './purposes.ts';

/** What the messages of a test call the fields of a request. */
export const fieldNames = { key: 'api_key', address: 'base_url', model: 'model' };

const fieldByFailure: Partial<Record<TestFailure, string>> = {
  invalid_credentials: 'api_key',
  insufficient_quota: 'api_key',
  model_not_found: 'model',
  address_not_allowed: 'base_url',
  provider_failed: 'base_url',
};

/** The problems of a test that did not pass, each at the field to change. The same problem of two abilities is one. */
export function toTestIssues({ abilities }: ModelTest, purposes: PurposeOrder): Issue[] {
  const issues = abilities.filter(({ passed }) => !passed).map((test) => toIssue(test, purposes));
  return [...new Map(issues.map((issue) => [`${issue.loc.join('.')} ${issue.msg}`, issue])).values()];
}

function toIssue({ ability, failure, message }: AbilityTest, purposes: PurposeOrder): Issue {
  const msg = `The test of the model failed, and nothing was saved. ${message!}`;
  const purpose = purposeThatNeeds(ability, purposes);
  if (failure === 'tools_not_supported' || failure === 'structured_output_not_supported')
    return { loc: ['body', 'purposes', ...(purpose ? [purpose] : [])], msg, type: failure };
  const isAboutAddress = failure === 'invalid_request' && message!.includes(fieldNames.address);
  return { loc: ['body', isAboutAddress ? 'base_url' : (fieldByFailure[failure!] ?? 'model')], msg, type: failure! };
}
