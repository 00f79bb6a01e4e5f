// Package harness is what every client program says to the harness (../README.md), and what the harness tells it.
package harness

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	Issuer     = os.Getenv("ISSUER")
	Resource   = os.Getenv("RESOURCE")
	AccountURL = os.Getenv("ACCOUNT_URL")
	Callback   = os.Getenv("CALLBACK")
	// Assistants that sign in only after a 401 use this address.
	MCPMemberURL = os.Getenv("MCP_URL") + "/member"
	ProfileA     = os.Getenv("PROFILE") == "A"
)

// StepUp is the call of a tool that the first token does not cover; nil if the program is not to make one.
func StepUp() (call *struct {
	Name      string
	Arguments map[string]any
}) {
	if text := os.Getenv("STEP_UP"); text != "" {
		if err := json.Unmarshal([]byte(text), &call); err != nil {
			Fail(err)
		}
	}
	return call
}

// Tool is a tool of the profile that can be called without arguments.
func Tool() string {
	if ProfileA {
		return "get_my_account"
	}
	return "search_courses"
}

// Scopes are what an app asks for: in profile A also the Account API.
func Scopes() []string {
	if ProfileA {
		return []string{"openid", "profile", "email", "account:read"}
	}
	return []string{"openid", "profile", "email"}
}

var attempted = "start"

// Step runs one or more steps and reports them if they succeed.
func Step(names string, run func() error) {
	all := strings.Fields(names)
	attempted = all[0]
	if err := run(); err != nil {
		Fail(err)
	}
	for _, name := range all {
		say("step", map[string]any{"name": name})
	}
}

// Fail reports the step that failed and ends the program.
func Fail(err error) {
	say("failed", map[string]any{"step": attempted, "message": err.Error()})
	os.Exit(1)
}

// Needs reports what the app had to set beyond the library's defaults.
func Needs(lines ...string) {
	say("needs", map[string]any{"lines": lines})
}

// Version reports the version of the module that this program was built with.
func Version(module string) {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			say("version", map[string]any{"library": strings.TrimPrefix(dependency.Version, "v")})
		}
	}
}

// Authorize sends the member to the URL and returns the parameters that their browser came back with.
func Authorize(to string) (url.Values, error) {
	say("authorize", map[string]any{"url": to})
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the member did not come back: %w", err)
	}
	callback, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		return nil, err
	}
	return callback.Query(), nil
}

// WaitForExpiry returns once the access tokens issued until now have expired.
func WaitForExpiry() {
	seconds, err := strconv.Atoi(os.Getenv("TOKEN_LIFETIME"))
	if err != nil {
		Fail(err)
	}
	time.Sleep(time.Duration(seconds+1) * time.Second)
}

// Register registers a client (RFC 7591), for libraries that do not register: a public one, or one with a secret if the
// program is started with "secret". It returns its client_id and secret.
func Register(ctx context.Context, endpoint string) (id, secret string, err error) {
	method := "none"
	if slices.Contains(os.Args[1:], "secret") {
		method = "client_secret_post"
	}
	body, err := json.Marshal(map[string]any{
		"client_name":                "Go",
		"redirect_uris":              []string{Callback},
		"token_endpoint_auth_method": method,
	})
	if err != nil {
		return "", "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(body))
	if err != nil {
		return "", "", err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		return "", "", fmt.Errorf("registration: %s", response.Status)
	}
	var registered struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
	}
	err = json.NewDecoder(response.Body).Decode(&registered)
	return registered.ClientID, registered.ClientSecret, err
}

func say(word string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	fmt.Println(word, string(text))
}
