package main

import (
	"context"
	"errors"

	"coursegate.example/clients/internal/harness"
	"github.com/Khan/genqlient/graphql"
	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

func main() {
	harness.Version("github.com/Khan/genqlient")
	ctx := context.Background()
	token, source, err := signIn(ctx)
	if err != nil {
		harness.Fail(err)
	}
	client := graphql.NewClient(harness.AccountURL, oauth2.NewClient(ctx, source))
	read := func() error {
		response, err := ReadAccount(ctx, client)
		if err == nil && response.Viewer.Id == "" {
			return errors.New("no member")
		}
		return err
	}
	harness.Step("account", read)
	harness.WaitForExpiry()
	harness.Step("expired-and-refreshed", func() error {
		if err := read(); err != nil {
			return err
		}
		refreshed, err := source.Token()
		if err == nil && refreshed.AccessToken == token.AccessToken {
			return errors.New("the access token is still the first one")
		}
		return err
	})
}

// signIn gets a token with x/oauth2, as in ../x-oauth2. Only what genqlient itself needs is reported.
func signIn(ctx context.Context) (*oauth2.Token, oauth2.TokenSource, error) {
	provider, err := oidc.NewProvider(ctx, harness.Issuer)
	if err != nil {
		return nil, nil, err
	}
	id, _, err := harness.Register(ctx, harness.Issuer+"/api/oauth/register")
	if err != nil {
		return nil, nil, err
	}
	config := oauth2.Config{
		ClientID: id, Endpoint: provider.Endpoint(), RedirectURL: harness.Callback, Scopes: harness.Scopes(),
	}
	verifier, state := oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
	resource := oauth2.SetAuthURLParam("resource", harness.Resource)
	returned, err := harness.Authorize(config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier), resource))
	if err != nil {
		return nil, nil, err
	}
	token, err := config.Exchange(ctx, returned.Get("code"), oauth2.VerifierOption(verifier), resource)
	return token, config.TokenSource(ctx, token), err
}
