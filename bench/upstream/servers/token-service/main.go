// A minimal token service: looks the token's hash up in memory and returns the identity in three headers.
package main

import (
	"crypto/sha256"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	text, err := os.ReadFile(os.Getenv("TOKENS"))
	if err != nil {
		log.Fatal(err)
	}
	known := map[[32]byte]string{}
	for at, token := range strings.Split(string(text), "\n") {
		known[sha256.Sum256([]byte(token))] = fmt.Sprintf("m-%d", at)
	}
	assertion := strings.Repeat("a", 400)
	handler := http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		token, bearer := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
		member, found := known[sha256.Sum256([]byte(token))]
		if !bearer || !found {
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		fields := response.Header()
		fields.Set("X-Member-Id", member)
		fields.Set("X-Client-Id", "client-1")
		fields.Set("X-Assertion", assertion)
		response.WriteHeader(http.StatusNoContent)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), handler))
}
