import type { Settings } from '../../settings.ts';
import type { CallTimeouts } from './attempt.ts';

export const toCallTimeouts = (settings: Settings): CallTimeouts => ({
  carrierSilenceMs: settings.CALL_SILENCE_SECONDS * 1000,
  placingTimeoutMs: (settings.CALL_ASK_WITHIN_SECONDS + settings.CALL_ANSWER_WITHIN_SECONDS) * 1000,
  unknownGraceMs: settings.CALL_UNKNOWN_AFTER_SECONDS * 1000,
  lookUpIntervalMs: settings.CALL_LOOK_AGAIN_SECONDS * 1000,
  machineVerdictTimeoutMs: settings.CALL_VERDICT_SECONDS * 1000,
  resendMs: settings.CALL_RESEND_SECONDS * 1000,
});
