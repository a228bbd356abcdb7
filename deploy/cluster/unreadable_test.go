package cluster_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// scripted is an API server of ConfigMaps that lists and tells what a test says.
type scripted struct {
	// items are those of a list, events the lines of a watch that goes on from it.
	items  []string
	events chan string
	// streams: it gives lists as streams.
	streams bool

	mu             sync.Mutex
	lists, watches int
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	w.Header().Set("Content-Type", "application/json")
	asStream := query.Get("sendInitialEvents") != ""
	switch {
	case r.URL.Path == "/api/v1":
		_, _ = fmt.Fprint(w, `{"resources":[{"name":"configmaps","namespaced":true,"kind":"ConfigMap"}]}`)
	case asStream && !s.streams:
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)
	case query.Get("watch") != "":
		s.count(&s.watches)
		s.watch(w, r, asStream)
	default:
		s.count(&s.lists)
		_, _ = fmt.Fprintf(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"100"},"items":[%s]}`, strings.Join(s.items, ","))
	}
}

func (s *scripted) count(what *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*what++
}

func (s *scripted) watch(w http.ResponseWriter, r *http.Request, initial bool) {
	if initial {
		for _, item := range s.items {
			_, _ = fmt.Fprintf(w, `{"type":"ADDED","object":%s}`+"\n", item)
		}
		_, _ = fmt.Fprintln(w, `{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"100","annotations":{"k8s.io/initial-events-end":"true"}}}}`)
	}
	_ = http.NewResponseController(w).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case event := <-s.events:
			_, _ = fmt.Fprintln(w, event)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// unreadable are objects that aren't any.
var unreadable = map[string]struct{ reason, document string }{
	"null":               {"a list has had such items", `null`},
	"text":               {"it is no object", `"settings"`},
	"number":             {"it is no object", `42`},
	"list":               {"it is no object", `[]`},
	"empty":              {"it has no metadata", `{}`},
	"no metadata":        {"it has no name", `{"kind":"ConfigMap","apiVersion":"v1","data":{}}`},
	"metadata of text":   {"it has no name", `{"kind":"ConfigMap","apiVersion":"v1","metadata":"settings"}`},
	"no name":            {"it has no name", `{"metadata":{"namespace":"shop","uid":"u","resourceVersion":"101"}}`},
	"a name of a number": {"it has no name", `{"metadata":{"name":1,"namespace":"shop","uid":"u","resourceVersion":"101"}}`},
	"a name of null":     {"it has no name", `{"metadata":{"name":null,"namespace":"shop","uid":"u","resourceVersion":"101"}}`},
	"a huge number":      {"no number of Go is as large", `{"metadata":{"name":"huge","namespace":"shop","uid":"u","resourceVersion":"101"},"data":{"a":1e999}}`},
}

// One object that can't be read keeps nobody from seeing the others, wherever it comes, and is said once.
func TestUnreadableObjects(t *testing.T) {
	t.Parallel()
	for name, test := range unreadable {
		for _, streams := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, streams=%v", name, streams), func(t *testing.T) {
				t.Parallel()
				api := &scripted{streams: streams, events: make(chan string), items: []string{configMapAt("first", 50), test.document, configMapAt("second", 51)}}
				said, events, view := api.start(t)
				events.take(t, "ADDED shop/first", "ADDED shop/second")
				for version := 101; version < 104; version++ {
					for _, what := range []string{"ADDED", "MODIFIED", "DELETED"} {
						api.events <- fmt.Sprintf(`{"type":%q,"object":%s}`, what, test.document)
					}
					api.events <- fmt.Sprintf(`{"type":"MODIFIED","object":%s}`, configMapAt("first", version))
				}
				events.take(t, "MODIFIED shop/first", "MODIFIED shop/first", "MODIFIED shop/first")
				listed, err := view.List(t.Context(), configMap, "shop", nil)
				require.NoError(t, err)
				assert.Len(t, listed, 2)
				assert.Equal(t, 1, said.count("an object can't be read"), "%s: %s", test.reason, said)
				assert.Equal(t, 1, said.count("msg="), "nothing else is wrong")
				api.mu.Lock()
				defer api.mu.Unlock()
				assert.Equal(t, 1, api.watches, "the watch goes on")
			})
		}
	}
}

func (s *scripted) start(t *testing.T) (*lines, *told, deploy.View) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	said, events := &lines{}, &told{}
	c := newCluster(t, &rest.Config{Host: server.URL}, cluster.Logger(slog.New(slog.NewTextHandler(said, nil))))
	subscription, err := c.View().Subscribe(t.Context(), configMap, events.handle)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return subscription.Synced(t.Context()) == nil }, patience, 10*time.Millisecond)
	return said, events, c.View()
}

// What isn't even an event ends the stream, and the next one brings what there is.
func TestUnreadableEvents(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ reason, line string }{
		"a page":             {"a proxy's", `<html>bad gateway</html>`},
		"another type":       {"it isn't known what it says", `{"type":"RENAMED","object":{}}`},
		"no type":            {"it isn't known what it says", `{"object":{}}`},
		"type of a number":   {"it isn't known what it says", `{"type":1,"object":{}}`},
		"an error of text":   {"it isn't known what is wrong", `{"type":"ERROR","object":"too old"}`},
		"a bookmark of []":   {"how far is it?", `{"type":"BOOKMARK","object":[]}`},
		"half of it":         {"the rest may come in the next line", `{"type":"MODIFIED","object":{"metadata":{"na}}}`},
		"more than an event": {"two in one line", `{"type":"BOOKMARK","object":{}} {"type":"BOOKMARK","object":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := &scripted{events: make(chan string), items: []string{configMapAt("first", 50)}}
			said, events, _ := api.start(t)
			events.take(t, "ADDED shop/first")
			api.events <- test.line
			api.events <- fmt.Sprintf(`{"type":"ADDED","object":%s}`, configMapAt("second", 101)) // lost with a stream that ends
			require.Eventually(t, func() bool {
				select {
				case api.events <- fmt.Sprintf(`{"type":"ADDED","object":%s}`, configMapAt("third", 102)):
				default:
				}
				return strings.Contains(strings.Join(events.all(), " "), "third")
			}, patience, 50*time.Millisecond, test.reason)
			assert.LessOrEqual(t, said.count("msg="), 1, "%s", said)
		})
	}
}

// What should be a list and isn't is said once, and asked for again until it is one.
func TestUnreadableLists(t *testing.T) {
	t.Parallel()
	for name, item := range map[string]string{"no JSON": `{"metadata":`, "a page": `<html>bad gateway</html>`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := &scripted{events: make(chan string), items: []string{item}}
			server := httptest.NewServer(api)
			t.Cleanup(server.Close)
			said := &lines{}
			c := newCluster(t, &rest.Config{Host: server.URL}, cluster.Logger(slog.New(slog.NewTextHandler(said, nil))))
			subscription, err := c.View().Subscribe(t.Context(), configMap, func(deploy.Event) {})
			require.NoError(t, err)
			require.ErrorContains(t, subscription.Synced(t.Context()), "the answer isn't a list")
			time.Sleep(2 * time.Second)
			assert.Equal(t, 1, said.count("msg="), "%s", said)
			api.mu.Lock()
			defer api.mu.Unlock()
			assert.LessOrEqual(t, api.lists, 6, "with ever longer pauses")
			assert.Greater(t, api.lists, 2)
		})
	}
}
