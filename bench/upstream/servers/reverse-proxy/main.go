// httputil.ReverseProxy with keep-alive and nothing else: tokens are not checked.
package main

import (
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
)

func main() {
	backend := parse(os.Getenv("UPSTREAM"))
	streams := parse(os.Getenv("STREAMS"))
	proxy := &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			if strings.HasPrefix(request.In.URL.Path, "/api/bench/stream") {
				request.SetURL(streams)
			} else {
				request.SetURL(backend)
			}
			request.SetXForwarded()
			request.Out.Header.Del("Authorization")
		},
		Transport: &http.Transport{MaxIdleConns: 1024, MaxIdleConnsPerHost: 1024, DisableCompression: true},
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), proxy))
}

func parse(text string) *url.URL {
	parsed, err := url.Parse(text)
	if err != nil {
		log.Fatal(err)
	}
	return parsed
}
