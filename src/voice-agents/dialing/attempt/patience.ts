import type { Settings } from '../../../settings.ts';
import type { Patience } from './attempt.ts';

export const patienceOf = (settings: Settings): Patience => ({
  silenceMs: settings.CALL_SILENCE_SECONDS * 1000,
  answeredWithinMs: (settings.CALL_ASK_WITHIN_SECONDS + settings.CALL_ANSWER_WITHIN_SECONDS) * 1000,
  unknownAfterMs: settings.CALL_UNKNOWN_AFTER_SECONDS * 1000,
  lookAgainMs: settings.CALL_LOOK_AGAIN_SECONDS * 1000,
  verdictMs: settings.CALL_VERDICT_SECONDS * 1000,
  resendMs: settings.CALL_RESEND_SECONDS * 1000,
});
