package main

import (
	"net/http"
	"net/http/httputil"
	"net/url"
)

// proxy is a forward proxy that sends the requests for a host to a local port. A host that it doesn't know is refused.
func proxy(ports map[string]string) http.Handler {
	local := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: "127.0.0.1:" + ports[r.In.URL.Hostname()]})
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host := r.URL.Hostname(); ports[host] == "" {
			http.Error(w, host+": no example has a hook of this name", http.StatusBadGateway)
			return
		}
		local.ServeHTTP(w, r)
	})
}
