package proxy

import (
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestParsePath(t *testing.T) {
	t.Parallel()
	core := func(name string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Version: "v1", Resource: name}
	}
	apps := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	for _, row := range []struct {
		reason, path string
		want         target
	}{
		{"all objects", "/api/v1/pods", target{resource: core("pods")}},
		{"those of a namespace", "/api/v1/namespaces/a/pods", target{resource: core("pods"), namespace: "a"}},
		{"one", "/api/v1/namespaces/a/pods/b", target{resource: core("pods"), namespace: "a", name: "b"}},
		{"its subresource", "/api/v1/namespaces/a/pods/b/log", target{resource: core("pods"), namespace: "a", name: "b", subresource: "log"}},
		{"below", "/api/v1/namespaces/a/pods/b/proxy/c/d", target{resource: core("pods"), namespace: "a", name: "b", subresource: "proxy/c/d"}},
		{"of a group", "/apis/apps/v1/namespaces/a/deployments/b/scale", target{resource: apps, namespace: "a", name: "b", subresource: "scale"}},
		{"without a namespace", "/api/v1/nodes/b", target{resource: core("nodes"), name: "b"}},
		{"its subresource", "/api/v1/nodes/b/status", target{resource: core("nodes"), name: "b", subresource: "status"}},
		{"namespaces", "/api/v1/namespaces", target{resource: core("namespaces")}},
		{"a namespace", "/api/v1/namespaces/a", target{resource: core("namespaces"), name: "a"}},
		{"its status", "/api/v1/namespaces/a/status", target{resource: core("namespaces"), name: "a", subresource: "status"}},
		{"its end", "/api/v1/namespaces/a/finalize", target{resource: core("namespaces"), name: "a", subresource: "finalize"}},
		{"a resource called proxy", "/api/v1/namespaces/a/proxy", target{resource: core("proxy"), namespace: "a"}},
		{"a name with a colon", "/apis/apps/v1/deployments/system%3Ab:c", target{resource: apps, name: "system:b:c"}},
		{"a slash at the end", "/api/v1/pods/", target{resource: core("pods")}},
		{"a document", "/apis/apps/v1", target{}},
		{"another one", "/api", target{}},
		{"another path", "/version", target{}},
	} {
		t.Run("hooks 49: "+row.reason, func(t *testing.T) {
			got, err := parsePath(row.path)
			require.NoError(t, err)
			got.path = nil
			assert.Equal(t, row.want, got)
		})
	}
}

// FuzzParsePath: a path that is taken has one form, which names the same, and which nobody reads in another way.
func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{
		"/", "/api/v1/namespaces/a/pods/b", "/api/v1/namespaces/a/../b", "/api/v1//pods", "/api/v1/pods/%2e%2e", "/api/v1/pods/a%2Fb", "/apis/apps/v1/deployments/a%3Ab/",
		"/api/v1/namespaces/a/status", "/api/v1/watch/pods", "/openapi/v3/apis/apps/v1", "/api/v1/nodes/a/proxy/b", "/api/v1/pods/a;b", "/api/v1/pods/%00", "api", "/api/v1/pods/a%252Fb", "/%E2%80%A6/ü",
	} {
		f.Add(seed)
	}
	base, err := url.Parse("https://server/prefix")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, escaped string) {
		got, err := parsePath(escaped)
		if err != nil {
			return
		}
		sent := (&Proxy{api: base}).at(got)
		decoded := strings.TrimPrefix(sent.Path, "/prefix")
		if len(got.path) > 0 {
			assert.Equal(t, got.String(), decoded)
			assert.Equal(t, path.Clean(decoded), decoded, "no part is empty or leads elsewhere")
			assert.Equal(t, len(got.path), strings.Count(decoded, "/"), "no part has a slash")
		}
		again, err := parsePath(strings.TrimPrefix(sent.EscapedPath(), "/prefix"))
		if len(got.path) > 0 {
			assert.NoError(t, err)
			assert.Equal(t, got, again)
		}
		line, err := url.ParseRequestURI(sent.RequestURI()) // as the API server reads it
		require.NoError(t, err)
		assert.Equal(t, sent.Path, line.Path)
		assert.Empty(t, line.RawQuery)
		if got.resource.Resource != "" {
			assert.False(t, got.isDocument())
			assert.Equal(t, expected(got), decoded, "what it names says where it is")
		}
	})
}

// expected returns the path of what a target names.
func expected(t target) string {
	all := "/api/" + t.resource.Version
	if t.path[0] == "apis" {
		all = "/apis/" + t.resource.Group + "/" + t.resource.Version
	}
	if t.namespace != "" {
		all += "/namespaces/" + t.namespace
	}
	for _, part := range []string{t.resource.Resource, t.name, t.subresource} {
		if part != "" {
			all += "/" + part
		}
	}
	return all
}
