/** What a language model is asked for. */
export const modelPurposes = {
  talk: 'what agents say in calls, chats and tests, and which tools they call',
  extraction: 'the variables of a talk, and its disposition, tags, summary and sentiment',
  judge: 'the `judge` checks of conversation tests',
  journey: 'the `llm` nodes of journeys',
} as const;

export type ModelPurpose = keyof typeof modelPurposes;
export const purposeNames = Object.keys(modelPurposes) as [ModelPurpose, ...ModelPurpose[]];

/** The place of a model in the order of each purpose, lowest first; absent: it is not asked for this. */
export type PurposeOrder = Partial<Record<ModelPurpose, number>>;

/** What a model has to be able to do. */
export type ModelAbility = 'tools' | 'structured_output' | 'answers';

const abilityFor: Record<ModelPurpose, ModelAbility> = {
  talk: 'tools',
  extraction: 'structured_output',
  judge: 'structured_output',
  journey: 'structured_output',
};

/** What the purposes need; a model without a purpose has to answer. */
export function neededAbilities(purposes: PurposeOrder): ModelAbility[] {
  const needed = purposeNames.filter((purpose) => purposes[purpose] !== undefined).map((purpose) => abilityFor[purpose]);
  return needed.length === 0 ? ['answers'] : [...new Set(needed)];
}

/** The first purpose that needs the ability. */
export const purposeThatNeeds = (ability: ModelAbility, purposes: PurposeOrder): ModelPurpose | undefined =>
  purposeNames.find((purpose) => purposes[purpose] !== undefined && abilityFor[purpose] === ability);
