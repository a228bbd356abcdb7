package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/operkit/operkit/tools/hooks/internal/proxy"
)

var configMaps = schema.GroupKind{Kind: "ConfigMap"}

func TestHeaders(t *testing.T) {
	t.Parallel()
	api := startFake(t, nil)
	p, logs := startProxy(t, api.url)
	client := use(t, issue(t, p, configMaps))
	t.Run("hooks 40: a request goes out as the ServiceAccount, with the credentials of the operator", func(t *testing.T) {
		code, body := client.do(t, "GET", "/api/v1/namespaces/a/configmaps?limit=2", "", "Accept", "application/json;as=Table")
		assert.Equal(t, http.StatusOK, code)
		assert.Equal(t, "{}", body)
		got := api.requests()
		require.Len(t, got, 1)
		assert.Equal(t, "GET /api/v1/namespaces/a/configmaps?limit=2", got[0].Method+" "+got[0].URL.String())
		assert.Equal(t, http.Header{
			"Authorization": {"Bearer operator"}, "Impersonate-User": {"system:serviceaccount:a:runner"},
			"Accept": {"application/json;as=Table"}, "Accept-Encoding": {"gzip"}, "User-Agent": {"Go-http-client/1.1"},
		}, got[0].Header)
	})
	t.Run("hooks 40: headers with which a caller could be somebody else stay behind", func(t *testing.T) {
		code, _ := client.do(t, "POST", "/api/v1/namespaces/a/configmaps", `{"metadata":{"name":"b"}}`,
			"Cookie", "a=b", "X-Forwarded-For", "10.0.0.1", "X-Forwarded-Host", "host", "Forwarded", "for=10.0.0.1", "X-Remote-User", "admin",
			"X-Remote-Group", "system:masters", "X-Remote-Extra-A", "b", "Proxy-Authorization", "Basic YTpi", "Front-Proxy", "a",
			"Authentication", "a", "Sec-Websocket-Protocol", "base64url.bearer.authorization.k8s.io.YQ", "Connection", "close, X-Other", "X-Other", "a")
		assert.Equal(t, http.StatusOK, code)
		got := api.requests()
		require.Len(t, got, 1)
		assert.Equal(t, http.Header{
			"Authorization": {"Bearer operator"}, "Impersonate-User": {"system:serviceaccount:a:runner"}, "User-Agent": {"Go-http-client/1.1"},
			"Accept-Encoding": {"identity"}, "Content-Type": {"application/json"}, "Content-Length": got[0].Header["Content-Length"],
		}, got[0].Header)
	})
	t.Run("hooks 40: a request that would impersonate is refused", func(t *testing.T) {
		for _, name := range []string{"Impersonate-User", "Impersonate-Group", "Impersonate-Uid", "Impersonate-Extra-Scopes", "impersonate-user"} {
			got := client.refused(t, http.StatusForbidden, "GET", "/api/v1/namespaces/a/configmaps", "", name, "system:admin")
			assert.Equal(t, "hooks proxy: "+http.CanonicalHeaderKey(name)+": a run can't impersonate: its requests are those of the ServiceAccount a/runner", got)
		}
		assert.Empty(t, api.requests())
	})
	t.Run("hooks 40: whom the operator's own connection impersonates doesn't matter", func(t *testing.T) {
		settings := config(api.url, io.Discard)
		settings.API.Impersonate = rest.ImpersonationConfig{UserName: "somebody", Groups: []string{"system:masters"}}
		other, err := proxy.New(t.Context(), settings)
		require.NoError(t, err)
		defer other.Close()
		code, _ := use(t, issue(t, other, configMaps)).do(t, "POST", "/api/v1/namespaces/a/configmaps", `{}`)
		assert.Equal(t, http.StatusOK, code)
		got := api.requests()
		require.Len(t, got, 1)
		assert.Equal(t, []string{"system:serviceaccount:a:runner"}, got[0].Header.Values("Impersonate-User"))
		assert.Empty(t, got[0].Header.Values("Impersonate-Group"))
	})
	assert.NotContains(t, logs.String(), client.token)
	assert.NotContains(t, logs.String(), "Bearer")
}

func TestTokens(t *testing.T) {
	t.Parallel()
	api := startFake(t, nil)
	p, logs := startProxy(t, api.url)
	access := issue(t, p)
	client := use(t, access)
	token := client.token
	const path = "/api/v1/namespaces/a/configmaps"
	for _, row := range []struct{ reason, header string }{
		{"none", ""},
		{"another one", "Bearer " + strings.Repeat("a", len(token))},
		{"all but the last letter", "Bearer " + token[:len(token)-1]},
		{"one letter more", "Bearer " + token + "a"},
		{"that of the operator", "Bearer operator"},
		{"another scheme", "Basic " + token},
		{"no scheme", token},
		{"an empty one", "Bearer "},
	} {
		t.Run("hooks 41: "+row.reason+" is refused", func(t *testing.T) {
			request := client.request(t, "GET", path, "")
			request.Header.Del("Authorization")
			if row.header != "" {
				request.Header.Set("Authorization", row.header)
			}
			response, err := client.client.Do(request)
			require.NoError(t, err)
			_ = response.Body.Close()
			assert.Equal(t, http.StatusUnauthorized, response.StatusCode)
		})
	}
	t.Run("hooks 41: two tokens are refused", func(t *testing.T) {
		request := client.request(t, "GET", path, "")
		request.Header.Add("Authorization", "Bearer "+token)
		response, err := client.client.Do(request)
		require.NoError(t, err)
		_ = response.Body.Close()
		assert.Equal(t, http.StatusUnauthorized, response.StatusCode)
	})
	assert.Empty(t, api.requests())
	t.Run("hooks 41: each run has its own", func(t *testing.T) {
		other := use(t, issue(t, p))
		assert.NotEqual(t, token, other.token)
		assert.Len(t, token, 43)
		code, _ := other.do(t, "GET", path, "")
		assert.Equal(t, http.StatusOK, code)
		code, _ = client.do(t, "GET", path, "")
		assert.Equal(t, http.StatusOK, code)
		access.End()
		access.End()
		assert.Equal(t, "hooks proxy: no valid token: use the kubeconfig of this run, which holds until the run ends",
			client.refused(t, http.StatusUnauthorized, "GET", path, ""), "on the same connection")
		code, _ = other.do(t, "GET", path, "")
		assert.Equal(t, http.StatusOK, code)
	})
	assert.NotContains(t, logs.String(), token)
}
