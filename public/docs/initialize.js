/* global SwaggerUIBundle */
SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  dom_id: '#viewer',
  deepLinking: true,
  docExpansion: 'list',
  tryItOutEnabled: true,
  persistAuthorization: false,
  // The badge of an outside validator would send it the address of this service.
  validatorUrl: null,
});
