/** A document that a school's developers might write: useful, but full of details that the gate must not publish. */
export const SCHOOL_API = {
  openapi: '3.0.3',
  info: { title: 'internal-school-api', version: '7.1', 'x-team': 'secret-team' },
  servers: [{ url: 'http://backend.internal.example:4000/api/{version}', variables: { version: { default: 'v1' } } }],
  security: [{ staffKey: [] }],
  tags: [{ name: 'secret-tag' }],
  paths: {
    '/courses': {
      summary: 'secret-item',
      parameters: [{ $ref: '#/components/parameters/Page' }],
      get: {
        operationId: 'listCourses',
        summary: 'List courses',
        tags: ['secret-tag'],
        security: [{ staffKey: [] }],
        'x-handler': 'secret-handler',
        servers: [{ url: 'http://secret-server.example' }],
        parameters: [
          { name: 'search', in: 'query', schema: { type: 'string', nullable: true } },
          { name: 'X-Member-Id', in: 'header', schema: { type: 'string' } },
          { name: 'X-Secret-Trace', in: 'header', schema: { type: 'string' } },
          { name: 'Accept-Language', in: 'header', description: 'The language.', schema: { type: 'string' } },
          { name: 'secret_cookie', in: 'cookie', schema: { type: 'string' } },
          {
            name: 'topics',
            in: 'query',
            style: 'form',
            explode: false,
            schema: { type: 'array', items: { type: 'string' } },
          },
          { name: 'secret_debug', in: 'query', 'x-internal': true, schema: { type: 'string' } },
        ],
        responses: {
          200: {
            description: 'The courses.',
            headers: { 'Set-Cookie': { schema: { type: 'string' } }, ETag: { schema: { type: 'string' } } },
            content: { 'application/json': { schema: { $ref: '#/components/schemas/CoursePage' } } },
            links: { secret_link: { operationId: 'listSecrets' } },
          },
          401: { description: 'secret-401' },
          404: {
            description: 'No such page.',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
          },
        },
      },
      post: {
        operationId: 'addCourse',
        summary: 'Add a course',
        requestBody: {
          required: true,
          content: {
            'application/json': { schema: { $ref: '#/components/schemas/Course' }, example: { title: 'Knots' } },
          },
        },
        callbacks: { secret_callback: { '{$request.body#/url}': {} } },
        responses: { 201: { $ref: '#/components/responses/Added' } },
      },
    },
    '/courses/{slug}': {
      get: {
        operationId: 'getCourse',
        summary: 'Read a course',
        parameters: [
          { name: 'slug', in: 'path', required: true, description: 'Its name.', schema: { type: 'string' } },
        ],
        responses: {
          200: {
            description: 'The course.',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Course' } } },
          },
        },
      },
      post: {
        operationId: 'joinCourse',
        summary: 'Join a course',
        requestBody: {
          'x-internal': true,
          content: { 'application/json': { schema: { properties: { secret_note: { type: 'string' } } } } },
        },
        responses: { 204: { description: 'Joined.' } },
      },
      delete: { operationId: 'secretDelete', 'x-internal': true, responses: { 204: { description: 'secret' } } },
    },
    '/members/{memberId}/orders': {
      get: {
        operationId: 'ordersOfMember',
        summary: 'List the orders of a member',
        parameters: [
          { name: 'memberId', in: 'path', required: true, schema: { type: 'integer' } },
          { name: 'year', in: 'query', schema: { type: 'integer', minimum: 2000, exclusiveMinimum: true } },
        ],
        responses: {
          200: { description: 'The orders.', content: { 'application/json': { schema: { type: 'object' } } } },
        },
      },
    },
    '/notes': {
      get: {
        operationId: 'listNotes',
        summary: 'List notes',
        parameters: [
          { name: 'user_id', in: 'query', required: true, schema: { type: 'integer' } },
          { name: 'User_Id[]', in: 'query', schema: { type: 'integer' } },
          { name: 'kind', in: 'query', schema: { type: 'string' } },
        ],
        responses: { 200: { description: 'The notes.' } },
      },
      post: {
        operationId: 'addNote',
        summary: 'Add a note',
        requestBody: {
          content: {
            'application/json': { schema: { $ref: '#/components/schemas/Note' } },
            'application/x-www-form-urlencoded': { schema: { $ref: '#/components/schemas/Note' } },
          },
        },
        responses: { 201: { description: 'Added.' } },
      },
    },
    '/secrets': {
      get: {
        operationId: 'listSecrets',
        summary: 'secret-op',
        responses: { 200: { $ref: '#/components/responses/Secret' } },
      },
    },
    '/courses/{slug}/admin': {
      'x-internal': true,
      get: { operationId: 'secretAdmin', responses: { 200: { description: 'secret' } } },
    },
  },
  components: {
    parameters: { Page: { name: 'page', in: 'query', description: 'From 1.', schema: { type: 'integer' } } },
    responses: {
      Added: {
        description: 'Added.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Course' } } },
      },
      Secret: {
        description: 'secret',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/SecretThing' } } },
      },
    },
    schemas: {
      Course: {
        type: 'object',
        required: ['title', 'secret_margin'],
        properties: {
          title: { type: 'string', 'x-column': 'secret-column' },
          'x-level': { type: 'integer' },
          subtitle: { type: 'string', nullable: true },
          secret_margin: { type: 'number', 'x-internal': true },
          next: { $ref: '#/components/schemas/Course' },
          gone: { $ref: '#/components/schemas/SecretGone' },
          lecturer: { $ref: 'http://backend.internal.example/secret-schemas.json#/Lecturer' },
        },
      },
      CoursePage: {
        type: 'object',
        required: ['data'],
        properties: { data: { type: 'array', items: { $ref: '#/components/schemas/Course' } } },
      },
      Failure: { type: 'object', properties: { error: { type: 'object' } } },
      Note: {
        type: 'object',
        required: ['user_id', 'text'],
        properties: { user_id: { type: 'integer' }, text: { type: 'string' } },
      },
      SecretThing: { type: 'object', properties: { secret: { type: 'string' } } },
    },
    securitySchemes: { staffKey: { type: 'apiKey', in: 'header', name: 'X-Secret-Key' } },
  },
};
