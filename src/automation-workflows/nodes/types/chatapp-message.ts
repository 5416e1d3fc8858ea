import { z } from 'zod';
import { configObject } from '../../../library/json/config-object.ts';
import { escapeMrkdwn } from '../../../integrations/actions/post-message.ts';
import { renderText } from '../../../expressions/templates/render.ts';
import { performAppAction } from '../shared/app-action.ts';
import { actionHandles, defineNode, failure } from '../contract.ts';

const ChatappMessageData = configObject({
  channel: z.string().min(1).max(1000).nullish(),
  text: z.string().min(1).max(20_000),
});
type ChatappMessageData = z.infer<typeof ChatappMessageData>;

export const chatappMessageNode = defineNode<ChatappMessageData>({
  type: 'chatapp_message',
  label: 'Chat message',
  description:
    "Posts `text` to a channel of the connected chatapp: `channel`, an id or a name, else the integration's default one. `text` may use the chatapp's own formatting and mentions; what it takes from the contact and other variables is shown as it is, so that nobody's data calls the whole channel. Rate limits are waited for. A post whose outcome is unknown fails as `unknown`, and is not made again.",
  dataSchema: ChatappMessageData,
  handles: actionHandles,
  isSideEffect: true,
  afterCrash: () => 'unknown',
  example: { channel: 'C0000000001', text: '*{{ contact.first_name }}* ordered {{ data.order_id }}' },
  run: async (step) => {
    const { data, scope } = step;
    const channel = data.channel == null ? null : renderText(data.channel, scope).trim();
    if (channel === '') return failure('no_channel', `channel: ${JSON.stringify(data.channel)} renders to nothing; name a channel`);
    const text = renderText(data.text, scope, escapeMrkdwn);
    if (text.trim() === '') return failure('no_text', 'text renders to nothing, and an empty message cannot be posted');
    return performAppAction(step, { request: { channel, text }, isLookedUp: false }, () =>
      step.effects.postToChannel(step.key, { channel, text }),
    );
  },
});
