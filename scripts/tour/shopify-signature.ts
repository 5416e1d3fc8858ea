import { createHmac } from 'node:crypto';

/**
 * The headers with which Shopify signs a delivery. The signature is over the bytes of the body.
 * Source: https://shopify.dev/docs/apps/build/webhooks/verify-deliveries
 */
export const shopifyHeaders = (secret: string, body: string, deliveryId: string): Record<string, string> => ({
  'content-type': 'application/json',
  'x-shopify-topic': 'orders/create',
  'x-shopify-shop-domain': 'example.myshopify.com',
  'x-shopify-webhook-id': deliveryId,
  'x-shopify-hmac-sha256': createHmac('sha256', secret).update(body).digest('base64'),
});
