// A certified OpenID provider (npm oidc-provider) for the tests: `node provider.mjs PORT REDIRECT_URI…`.
// Any login name is a person; the form that the package brings asks for it, and then for consent.
import * as oidc from 'oidc-provider'

const [port, ...redirectUris] = process.argv.slice(2)
const issuer = `http://localhost:${port}`

const provider = new oidc.Provider(issuer, {
  clients: [
    {
      client_id: 'mailkeep',
      client_secret: 'a secret: with% signs',
      redirect_uris: redirectUris,
      token_endpoint_auth_method: 'client_secret_basic',
    },
  ],
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
  // The person `dora@example.test` has the subject `dora` and this email, verified.
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@example.test`, email_verified: true }),
  }),
  pkce: { required: () => true },
  cookies: { keys: ['keys of the tests'] },
  features: { devInteractions: { enabled: true } },
  ttl: { Session: 600, Interaction: 600, Grant: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
})

const server = provider.listen(Number(port), '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`)
})
