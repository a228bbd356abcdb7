package cluster_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// paged answers a list in three pages and forgets the version in the middle of it as often
// as it is told.
type paged struct {
	mu     sync.Mutex
	expire int
	calls  []string
}

func (p *paged) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/api/v1" {
		_, _ = fmt.Fprint(w, `{"resources":[{"name":"configmaps","namespaced":true,"kind":"ConfigMap"}]}`)
		return
	}
	token := r.URL.Query().Get("continue")
	p.calls = append(p.calls, r.URL.Query().Get("limit")+" "+token)
	if token == "2" && p.expire > 0 {
		p.expire--
		w.WriteHeader(http.StatusGone)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`)
		return
	}
	next := map[string]string{"": "1", "1": "2", "2": ""}[token]
	name := map[string]string{"": "c", "1": "a", "2": "b"}[token]
	_, _ = fmt.Fprintf(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"continue":%q},"items":[{"metadata":{"name":%q,"namespace":"shop"}}]}`, next, name)
}

func TestListPages(t *testing.T) {
	t.Parallel()
	once := []string{"500 ", "500 1", "500 2"}
	for name, test := range map[string]struct {
		expire int
		want   []string
		calls  []string
	}{
		"all pages make one list":                     {0, []string{"a", "b", "c"}, once},
		"410 in the middle: it begins anew":           {1, []string{"a", "b", "c"}, append(once, once...)},
		"410 twice: whoever asked decides what to do": {2, nil, append(once, once...)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handler := &paged{expire: test.expire}
			server := httptest.NewServer(handler)
			t.Cleanup(server.Close)
			listed, err := newCluster(t, &rest.Config{Host: server.URL}).Port().List(t.Context(), configMap, "shop", deploy.ListOptions{})
			var names []string
			for _, obj := range listed {
				names = append(names, obj.GetName())
			}
			assert.Equal(t, test.want, names)
			assert.Equal(t, test.calls, handler.calls)
			if test.want == nil {
				unavailable(t, func() error { return err })
				return
			}
			require.NoError(t, err)
		})
	}
}

// Servers that don't know how to answer with everything are asked for one version after
// the other.
func TestKindsOfAnOlderServer(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"/api":          `{"kind":"APIVersions","versions":["v1"]}`,
		"/api/v1":       `{"resources":[{"name":"pods","singularName":"pod","kind":"Pod"},{"name":"pods/status","kind":"Pod"}]}`,
		"/apis":         `{"kind":"APIGroupList","groups":[{"name":"shop","versions":[{"version":"v2"},{"version":"v1"}],"preferredVersion":{"version":"v1"}},{"name":"down","versions":[{"version":"v1"}]}]}`,
		"/apis/shop/v1": `{"resources":[{"name":"carts","singularName":"cart","shortNames":["ct"],"kind":"Cart"}]}`,
		"/apis/shop/v2": `{"resources":[{"name":"carts","singularName":"cart","kind":"Cart"},{"name":"crates","kind":"Crate"}]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	port := newCluster(t, &rest.Config{Host: server.URL}).Port()
	for name, want := range map[string]string{
		"Pod": "[/v1, Kind=Pod]", "pod": "[/v1, Kind=Pod]",
		"Cart": "[shop/v1, Kind=Cart]", "ct": "[shop/v1, Kind=Cart]",
		"Crate": "[shop/v2, Kind=Crate]",
	} {
		found, err := port.Kinds(t.Context(), name)
		unavailable(t, func() error { return err })
		assert.Equal(t, want, fmt.Sprint(found), "%s: found, although another group that is down may have it too", name)
		kind, err := must(deploy.NewManager(newCluster(t, &rest.Config{Host: server.URL}), deploy.RetryFor(time.Hour))).Kind(t.Context(), name)
		require.NoError(t, err, "who wants one kind takes the one that is known, at once")
		assert.Equal(t, want, fmt.Sprintf("[%s]", kind))
	}
	_, err := port.Kinds(t.Context(), "Nothing")
	unavailable(t, func() error { return err })
}
