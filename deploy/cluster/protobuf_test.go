package cluster_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// What is held as metadata comes as protobuf, of built-in and of custom kinds; a server that doesn't speak it may
// answer with JSON.
func TestMetadataComesAsProtobuf(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		// hides takes protobuf out of what is asked for.
		hides bool
		want  string
	}{
		{"a server of today", false, "application/vnd.kubernetes.protobuf"},
		{"one without protobuf", true, "application/json"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			env := envtest.Start(t, envtest.CRDs("testdata"))
			seen := &answers{hides: row.hides, types: map[string][]string{}}
			config := rest.CopyConfig(env.Config)
			config.Wrap(seen.wrap)
			c := newCluster(t, config, cluster.Namespaces(env.Namespace), cluster.MetadataOnly(configMap.GroupKind(), cart.GroupKind()))
			m := must(deploy.NewManager(c))
			for kind, text := range map[schema.GroupVersionKind]string{
				configMap: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {a: b}",
				cart:      "apiVersion: deploy.operkit.dev/v1\nkind: Cart\nmetadata: {name: %s}\nspec: {size: 1}",
			} {
				events := make(chan deploy.Event, 100)
				subscription, err := c.View().Subscribe(t.Context(), kind, func(event deploy.Event) { events <- event })
				require.NoError(t, err)
				require.NoError(t, subscription.Synced(t.Context()))
				apply(t, m, object(t, env.Namespace, fmt.Sprintf(text, "first"))) // of which all is looked at
				created := apply(t, m, object(t, env.Namespace, fmt.Sprintf(text, "second")))
				assertOnlyMetadata(t, created.Object, kind)
				awaitEvent(t, events, func(event deploy.Event) bool {
					return event.New.GetUID() == created.Object.GetUID() && event.New.GroupVersionKind() == kind
				})
			}
			for _, what := range []string{"GET configmaps", "GET carts", "PATCH configmaps", "PATCH carts"} {
				require.NotEmpty(t, seen.of(what), what)
				for _, answer := range seen.of(what) {
					assert.Contains(t, answer, row.want, what)
				}
			}
		})
	}
}

// answers keeps the media types of answers to requests for metadata, by method and resource.
type answers struct {
	hides bool

	mu    sync.Mutex
	types map[string][]string
}

func (a *answers) of(what string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.types[what]
}

func (a *answers) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		accept := request.Header.Get("Accept")
		if !strings.Contains(accept, "as=PartialObjectMetadata") {
			return next.RoundTrip(request)
		}
		if a.hides {
			_, rest, _ := strings.Cut(accept, ",")
			request = request.Clone(request.Context())
			request.Header.Set("Accept", rest)
		}
		response, err := next.RoundTrip(request)
		if err == nil {
			a.mu.Lock()
			defer a.mu.Unlock()
			for _, part := range strings.Split(request.URL.Path, "/") {
				a.types[request.Method+" "+part] = append(a.types[request.Method+" "+part], response.Header.Get("Content-Type"))
			}
		}
		return response, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }
