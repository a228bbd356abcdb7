package proxy

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/operkit/operkit/tools/envtest"
)

// words are parts of paths, among them those that mean something in some places.
var words = []string{
	"namespaces", "pods", "configmaps", "status", "finalize", "proxy", "watch", "scale", "nodes", "deployments", "a", "b.c", "system:node", "v1", "api", "apis", "exec",
}

// randomPath returns a path of resources.
func randomPath(random *rand.Rand) string {
	parts := []string{"", "api", "v1"}
	if random.IntN(2) == 0 {
		parts = []string{"", "apis", "apps", "v1"}
	}
	for range 1 + random.IntN(6) {
		parts = append(parts, words[random.IntN(len(words))])
	}
	path := strings.Join(parts, "/")
	switch random.IntN(8) {
	case 0:
		path += "/"
	case 1:
		path = strings.Replace(path, ":", "%3A", 1)
	case 2:
		path = strings.Replace(path, "od", "%6Fd", 1)
	}
	return path
}

// The API server takes a path that parsePath takes for the same resource, namespace, name and subresource.
func TestResolvedAsAPIServerDoes(t *testing.T) {
	t.Parallel()
	t.Run("hooks 43: what a path names is what the API server takes it for", func(t *testing.T) {
		t.Parallel()
		env := envtest.Start(t)
		client, err := rest.HTTPClientFor(env.Config)
		require.NoError(t, err)
		random := rand.New(rand.NewPCG(1, 2))
		sent := map[string]target{}
		for len(sent) < 300 {
			escaped := randomPath(random)
			found, err := parsePath(escaped)
			if err != nil {
				assert.Contains(t, err.Error(), "isn't a resource", escaped)
				continue
			}
			if _, again := sent[found.String()]; again {
				continue
			}
			sent[found.String()] = found
			request, err := http.NewRequestWithContext(t.Context(), http.MethodHead, env.Config.Host+escaped, nil)
			require.NoError(t, err)
			response, err := client.Do(request)
			require.NoError(t, err)
			_ = response.Body.Close()
		}
		seen := 0
		for _, call := range env.Calls(t) {
			found, ok := sent["/"+strings.Trim(call.Path, "/")]
			if !ok {
				continue
			}
			seen++
			namespace, subresource, _ := call.Namespace, "", ""
			if subresource = found.subresource; call.Resource == "namespaces" {
				namespace = "" // the API server takes it for that of the namespace, too
			}
			first, _, _ := strings.Cut(subresource, "/")
			assert.Equal(t, []string{call.Group, call.Version, call.Resource, namespace, call.Name, call.Subresource},
				[]string{found.resource.Group, found.resource.Version, found.resource.Resource, found.namespace, found.name, first}, call.Path)
		}
		assert.GreaterOrEqual(t, seen, 300)
	})
}
