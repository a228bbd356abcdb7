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

// restored is an API server whose storage goes back in versions: it lists version 100, takes
// a write as 150, and is then at 60, which it tells to whoever goes on from a later one.
type restored struct {
	mu    sync.Mutex
	back  bool
	gone  chan struct{}
	lists []string
}

func (s *restored) isBack() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.back
}

func (s *restored) restore() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.back = true
	close(s.gone)
}

func (s *restored) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/api/v1":
		_, _ = fmt.Fprint(w, `{"resources":[{"name":"configmaps","namespaced":true,"kind":"ConfigMap"}]}`)
	case r.Method == http.MethodPatch:
		_, _ = fmt.Fprint(w, configMapAt("settings", 150))
	case query.Get("sendInitialEvents") != "":
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)
	case query.Get("resourceVersion") == "100" && s.isBack():
		w.WriteHeader(http.StatusGatewayTimeout)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Timeout","code":504,"message":"Too large resource version: 100, current: 60",`+
			`"details":{"retryAfterSeconds":1,"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}]}}`)
	case query.Get("watch") != "":
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-s.gone:
			if query.Get("resourceVersion") != "100" {
				<-r.Context().Done()
			}
		}
	default:
		s.mu.Lock()
		s.lists = append(s.lists, query.Get("resourceVersion"))
		s.mu.Unlock()
		version := 100
		if s.isBack() {
			version = 60
		}
		_, _ = fmt.Fprintf(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[%s]}`, version, configMapAt("settings", 50))
	}
}

func configMapAt(name string, version int) string {
	return fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":%q,"namespace":"shop","uid":"u","resourceVersion":"%d"}}`, name, version)
}

// A storage that was restored has forgotten our write. The watch must not wait for ever for
// a version that doesn't come, nor must readers.
func TestRestoredStorage(t *testing.T) {
	t.Parallel()
	api := &restored{gone: make(chan struct{})}
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	c := newCluster(t, &rest.Config{Host: server.URL})
	watch(t, c, configMap)
	ref := deploy.Ref{Kind: configMap, Namespace: "shop", Name: "settings"}
	version := func() string {
		obj, err := c.View().Get(t.Context(), ref)
		require.NoError(t, err)
		require.NotNil(t, obj)
		return obj.GetResourceVersion()
	}
	_, err := c.Port().Apply(t.Context(), object(t, "shop", "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}"), deploy.ApplyOptions{FieldManager: "m"})
	require.NoError(t, err)
	assert.Equal(t, "150", version(), "our own write")
	api.restore()
	require.Eventually(t, func() bool { return version() == "50" }, patience, 10*time.Millisecond, "a complete list begun after the write is believed")
	api.mu.Lock()
	defer api.mu.Unlock()
	assert.Contains(t, api.lists, "", "one that is as new as can be")
}
