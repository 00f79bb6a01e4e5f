package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"coursegate.example/clients/internal/harness"
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func main() {
	harness.Version("github.com/mark3labs/mcp-go")
	ctx := context.Background()
	store := client.NewMemoryTokenStore()
	c, err := client.NewOAuthStreamableHttpClient(harness.MCPMemberURL, client.OAuthConfig{
		RedirectURI: harness.Callback,
		Scopes:      harness.Scopes(),
		TokenStore:  store,
		PKCEEnabled: true,
	})
	if err != nil {
		harness.Fail(err)
	}
	defer c.Close()
	initialize := func() error {
		if err := c.Start(ctx); err != nil {
			return err
		}
		request := mcp.InitializeRequest{}
		request.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
		request.Params.ClientInfo = mcp.Implementation{Name: "mcp-go", Version: "1.0.0"}
		_, err := c.Initialize(ctx, request)
		return err
	}
	err = initialize()
	if !client.IsOAuthAuthorizationRequiredError(err) {
		harness.Fail(fmt.Errorf("not asked to sign in: %w", err))
	}
	signIn(ctx, err)
	harness.Step("tools", func() error {
		if err := initialize(); err != nil {
			return err
		}
		listed, err := c.ListTools(ctx, mcp.ListToolsRequest{})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(listed.Tools, func(tool mcp.Tool) bool { return tool.Name == harness.Tool() }) {
			return fmt.Errorf("no tool %s", harness.Tool())
		}
		return nil
	})
	call := func() error {
		request := mcp.CallToolRequest{}
		request.Params.Name = harness.Tool()
		result, err := c.CallTool(ctx, request)
		if err == nil && result.IsError {
			return fmt.Errorf("%v", result.Content)
		}
		return err
	}
	harness.Step("call", call)
	first := accessToken(ctx, store)
	harness.WaitForExpiry()
	harness.Step("expired-and-refreshed", func() error {
		if err := call(); err != nil {
			return err
		}
		if accessToken(ctx, store) == first {
			return errors.New("the access token is still the first one")
		}
		return nil
	})
}

// signIn is what the library leaves to the app when a server demands a token.
func signIn(ctx context.Context, demanded error) {
	handler := client.GetOAuthHandler(demanded)
	verifier, err := client.GenerateCodeVerifier()
	if err != nil {
		harness.Fail(err)
	}
	state, err := client.GenerateState()
	if err != nil {
		harness.Fail(err)
	}
	harness.Step("discover register", func() error { return handler.RegisterClient(ctx, "mcp-go") })
	url, err := handler.GetAuthorizationURL(ctx, state, client.GenerateCodeChallenge(verifier))
	if err != nil {
		harness.Fail(err)
	}
	var code string
	harness.Step("authorize", func() error {
		returned, err := harness.Authorize(url)
		code = returned.Get("code")
		return err
	})
	harness.Step("token", func() error {
		return handler.ProcessAuthorizationResponse(ctx, code, state, verifier)
	})
}

func accessToken(ctx context.Context, store client.TokenStore) string {
	token, err := store.GetToken(ctx)
	if err != nil {
		harness.Fail(err)
	}
	return token.AccessToken
}
