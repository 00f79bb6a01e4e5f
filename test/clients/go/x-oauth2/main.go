package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"coursegate.example/clients/internal/harness"
	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

func main() {
	harness.Version("golang.org/x/oauth2")
	ctx := context.Background()
	var atAuthorize, atToken []oauth2.AuthCodeOption
	if harness.ProfileA {
		harness.Needs(
			`config.AuthCodeURL(..., oauth2.SetAuthURLParam("resource", resource))`,
			`config.Exchange(..., oauth2.SetAuthURLParam("resource", resource))`,
		)
		resource := oauth2.SetAuthURLParam("resource", harness.Resource)
		atAuthorize = append(atAuthorize, resource)
		atToken = append(atToken, resource)
	}

	var provider *oidc.Provider
	var err error
	harness.Step("discover", func() error {
		provider, err = oidc.NewProvider(ctx, harness.Issuer)
		return err
	})
	config := oauth2.Config{Endpoint: provider.Endpoint(), RedirectURL: harness.Callback, Scopes: harness.Scopes()}
	harness.Step("register", func() error {
		var metadata struct {
			RegistrationEndpoint string `json:"registration_endpoint"`
		}
		if err := provider.Claims(&metadata); err != nil {
			return err
		}
		config.ClientID, config.ClientSecret, err = harness.Register(ctx, metadata.RegistrationEndpoint)
		return err
	})

	verifier := oauth2.GenerateVerifier()
	state := oauth2.GenerateVerifier()
	url := config.AuthCodeURL(state, append(atAuthorize, oauth2.S256ChallengeOption(verifier))...)
	var code string
	harness.Step("authorize", func() error {
		returned, err := harness.Authorize(url)
		code = returned.Get("code")
		if err == nil && returned.Get("state") != state {
			return errors.New("another state")
		}
		return err
	})
	var token *oauth2.Token
	harness.Step("token", func() error {
		token, err = config.Exchange(ctx, code, append(atToken, oauth2.VerifierOption(verifier))...)
		return err
	})
	harness.Step("id_token", func() error {
		raw, _ := token.Extra("id_token").(string)
		_, err := provider.Verifier(&oidc.Config{ClientID: config.ClientID}).Verify(ctx, raw)
		return err
	})
	source := config.TokenSource(ctx, token)
	userInfo := func() error {
		info, err := provider.UserInfo(ctx, source)
		if err == nil && info.Subject == "" {
			return errors.New("no subject")
		}
		return err
	}
	harness.Step("userinfo", userInfo)
	if harness.ProfileA {
		harness.Step("account", func() error { return readAccount(oauth2.NewClient(ctx, source)) })
	}
	harness.WaitForExpiry()
	harness.Step("expired-and-refreshed", func() error {
		if err := userInfo(); err != nil {
			return err
		}
		refreshed, err := source.Token()
		if err == nil && refreshed.AccessToken == token.AccessToken {
			return errors.New("the access token is still the first one")
		}
		return err
	})
}

func readAccount(client *http.Client) error {
	query := strings.NewReader(`{"query":"{ viewer { id email } }"}`)
	response, err := client.Post(harness.AccountURL, "application/json", query)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the Account API answered %s", response.Status)
	}
	return nil
}
