export interface Mail {
  subject: string;
  text: string;
}

/** Sends mail in the name of the service. */
export interface MailSender {
  /** Resolves when the mail was handed over. Throws when it was refused; it may have been sent nevertheless if nobody answered. */
  send(to: string, mail: Mail): Promise<void>;
}
