package traps

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/tools/bench/internal/faults"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// apiServer tells who has written what, and answers the writes of "operator" that come after others' by a conflict.
type apiServer struct {
	mu     sync.Mutex
	writes []string
	edited map[string]bool
	// events are what the watches of each resource tell.
	events map[string]chan string
}

func (a *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") != "" {
		w.WriteHeader(http.StatusOK)
		for {
			w.(http.Flusher).Flush()
			select {
			case event := <-a.events[path.Base(r.URL.Path)]:
				_, _ = fmt.Fprintln(w, event)
			case <-r.Context().Done():
				return
			}
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	object := strings.TrimSuffix(r.URL.Path, "/status")
	byOperator := r.Header.Get("Impersonate-User") != ""
	a.writes = append(a.writes, fmt.Sprintf("%s %s %t", r.Method, r.URL.Path, byOperator))
	w.Header().Set("Content-Type", "application/json")
	if byOperator && a.edited[object] {
		a.edited[object] = false
		w.WriteHeader(http.StatusConflict)
	} else if !byOperator {
		a.edited[object] = true
	}
	_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Success"}`)
}

// throughProxy returns what sends requests to a server through a proxy with these hooks.
func throughProxy(t *testing.T, server *httptest.Server, hooks faults.Hooks) (send func(method, path string) *http.Response) {
	t.Helper()
	proxy, err := faults.Start(&rest.Config{Host: server.URL, Transport: server.Client().Transport}, hooks)
	require.NoError(t, err)
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		require.NoError(t, proxy.Stop())
	})
	return func(method, path string) *http.Response {
		// A stream whose request has a body may be cut off: the proxy's end of the body is closed when it begins to answer.
		var body io.Reader
		if method != http.MethodGet {
			body = strings.NewReader("{}")
		}
		request, err := http.NewRequestWithContext(t.Context(), method, proxy.Address()+path, body)
		require.NoError(t, err)
		request.Header.Set("Impersonate-User", "operator")
		response, err := (&http.Client{Transport: transport}).Do(request)
		require.NoError(t, err)
		t.Cleanup(func() { _ = response.Body.Close() })
		return response
	}
}

func TestRace(t *testing.T) {
	t.Parallel()
	api := &apiServer{edited: map[string]bool{}}
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfigAndClient(&rest.Config{Host: server.URL}, server.Client())
	require.NoError(t, err)
	r := newRace("a")
	r.client = client.CoreV1().RESTClient()
	hooks := faults.Hooks{Fault: r.before, Answer: func(answer *http.Response) error { r.after(answer); return nil }}
	send := throughProxy(t, server, hooks)
	const bundles, configMaps = "/apis/bench.operkit.dev/v1/namespaces/x/bundles/", "/api/v1/namespaces/x/configmaps/"

	codes := func(writes ...string) (got []int) {
		for _, write := range writes {
			method, path, _ := strings.Cut(write, " ")
			got = append(got, send(method, path).StatusCode)
		}
		return got
	}
	assert.Equal(t, []int{200}, codes("PATCH "+bundles+"a/status"), "there is no race yet")
	r.begin()
	assert.Equal(t, []int{200, 200, 200, 200}, codes(
		"GET "+bundles+"a", "POST "+configMaps+"a-message", "PUT "+configMaps+"a-size", "PATCH "+bundles+"aa/status",
	), "nothing of it is raced for")
	assert.Equal(t, []int{409, 200, 409, 200}, codes(
		"PATCH "+bundles+"a/status", "PATCH "+bundles+"a/status", "PUT "+configMaps+"a-message", "PUT "+configMaps+"a-message",
	), "the first of each is raced")
	raced, refused, err := r.end()
	require.NoError(t, err)
	assert.Equal(t, 2, raced)
	assert.Equal(t, 2, refused)
	assert.Contains(t, api.writes, "PATCH "+bundles+"a false", "the object is edited, not its status")
	assert.Equal(t, []int{200}, codes("PATCH "+bundles+"a/status"), "it has ended")
}

func TestGate(t *testing.T) {
	t.Parallel()
	api := &apiServer{edited: map[string]bool{}, events: map[string]chan string{"secrets": make(chan string), "configmaps": make(chan string)}}
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	g := newGate("secrets")
	hooks := faults.Hooks{Fault: newRace("none").before, Answer: func(answer *http.Response) error { g.guard(answer); return nil }}
	send := throughProxy(t, server, hooks)
	lines := func(path string) <-chan string {
		body, read := send(http.MethodGet, path).Body, make(chan string)
		go func() {
			defer close(read)
			for line := bufio.NewScanner(body); line.Scan(); {
				read <- line.Text()
			}
		}()
		t.Cleanup(func() {
			_ = body.Close()
			for range read { // until its reader has ended
			}
		})
		return read
	}
	secrets := lines("/api/v1/namespaces/x/secrets?watch=true")
	api.events["secrets"] <- "one"
	require.Equal(t, "one", <-secrets, "it is open")
	assert.Zero(t, g.held())

	g.hold()
	api.events["secrets"] <- "two"
	select {
	case line := <-secrets:
		assert.Fail(t, "it is held back", line)
	case <-time.After(100 * time.Millisecond):
	}
	assert.Positive(t, g.held())
	g.open()
	g.open() // no harm
	require.Equal(t, "two", <-secrets, "it comes later")

	g.hold()
	others := lines("/api/v1/namespaces/x/configmaps?watch=true")
	api.events["configmaps"] <- "three"
	require.Equal(t, "three", <-others, "another resource isn't held back")
	answer := send(http.MethodGet, "/api/v1/namespaces/x/secrets")
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	assert.NotEmpty(t, body, "nor a list")
	g.open()
}
