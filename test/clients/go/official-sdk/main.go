package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"coursegate.example/clients/internal/harness"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

func fetchCode(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	returned, err := harness.Authorize(args.URL)
	if err != nil {
		return nil, err
	}
	return &auth.AuthorizationResult{
		Code: returned.Get("code"), State: returned.Get("state"), Iss: returned.Get("iss"),
	}, nil
}

func main() {
	harness.Version("github.com/modelcontextprotocol/go-sdk")
	ctx := context.Background()
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{
				ClientName:   "Go MCP SDK",
				RedirectURIs: []string{harness.Callback},
				GrantTypes:   []string{"authorization_code", "refresh_token"},
			},
		},
		AuthorizationCodeFetcher: fetchCode,
	})
	if err != nil {
		harness.Fail(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "Go MCP SDK", Version: "1.0.0"}, nil)
	transport := &mcp.StreamableClientTransport{Endpoint: harness.MCPMemberURL, OAuthHandler: handler}

	var session *mcp.ClientSession
	harness.Step("discover register authorize token tools", func() error {
		session, err = client.Connect(ctx, transport, nil)
		if err != nil {
			return err
		}
		listed, err := session.ListTools(ctx, nil)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(listed.Tools, func(tool *mcp.Tool) bool { return tool.Name == harness.Tool() }) {
			return fmt.Errorf("no tool %s", harness.Tool())
		}
		return nil
	})
	defer session.Close()
	callTool := func(name string, arguments map[string]any) error {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
		if err == nil && result.IsError {
			return fmt.Errorf("%v", result.Content)
		}
		return err
	}
	call := func() error { return callTool(harness.Tool(), map[string]any{}) }
	harness.Step("call", call)
	if more := harness.StepUp(); more != nil {
		before := scopes(ctx, handler)
		harness.Step("step-up", func() error {
			if err := callTool(more.Name, more.Arguments); err != nil {
				return err
			}
			after := scopes(ctx, handler)
			if len(before) == 0 {
				return errors.New("the token response names no scopes")
			}
			for _, scope := range before {
				if !slices.Contains(after, scope) {
					return fmt.Errorf("%s was lost", scope)
				}
			}
			return nil
		})
		return
	}
	first := accessToken(ctx, handler)
	harness.WaitForExpiry()
	harness.Step("expired-and-refreshed", func() error {
		if err := call(); err != nil {
			return err
		}
		if accessToken(ctx, handler) == first {
			return errors.New("the access token is still the first one")
		}
		return nil
	})
}

func scopes(ctx context.Context, handler auth.OAuthHandler) []string {
	granted, _ := token(ctx, handler).Extra("scope").(string)
	return strings.Fields(granted)
}

func accessToken(ctx context.Context, handler auth.OAuthHandler) string {
	return token(ctx, handler).AccessToken
}

func token(ctx context.Context, handler auth.OAuthHandler) *oauth2.Token {
	source, err := handler.TokenSource(ctx)
	if err != nil {
		harness.Fail(err)
	}
	token, err := source.Token()
	if err != nil {
		harness.Fail(err)
	}
	return token
}
