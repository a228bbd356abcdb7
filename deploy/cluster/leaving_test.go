package cluster_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// webOnly is the option that selects ConfigMaps by tier=web.
var webOnly = cluster.Selected(configMap.GroupKind(), labels.SelectorFromSet(labels.Set{"tier": "web"}), nil)

// webs are ConfigMaps that somebody else edits.
type webs struct {
	t      *testing.T
	env    *envtest.Env
	client dynamic.ResourceInterface
	events told
}

func newWebs(t *testing.T, env *envtest.Env) *webs {
	t.Helper()
	return &webs{t: t, env: env, client: others(t, env, configMap)}
}

// create creates ConfigMaps that are selected.
func (w *webs) create(names ...string) {
	w.t.Helper()
	for _, name := range names {
		obj := object(w.t, w.env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+", labels: {tier: web}}}")
		_, err := w.client.Create(w.t.Context(), obj, metav1.CreateOptions{})
		require.NoError(w.t, err)
	}
}

func (w *webs) relabel(name, tier string) {
	w.t.Helper()
	edit(w.t, w.client, name, `{"metadata":{"labels":{"tier":"`+tier+`"}}}`)
}

func (w *webs) delete(name string) {
	w.t.Helper()
	require.NoError(w.t, w.client.Delete(w.t.Context(), name, metav1.DeleteOptions{}))
}

// of returns the texts of events of one type.
func (w *webs) of(kind string, names ...string) (all []string) {
	for _, name := range names {
		all = append(all, kind+" "+w.env.Namespace+"/"+name)
	}
	return all
}

// subscribe subscribes to ConfigMaps, and takes the events of the existing ones.
func (w *webs) subscribe(c *cluster.Cluster, existing ...string) {
	w.t.Helper()
	subscription, err := c.View().Subscribe(w.t.Context(), configMap, w.events.handle)
	require.NoError(w.t, err)
	require.NoError(w.t, subscription.Synced(w.t.Context()))
	w.events.take(w.t, w.of("ADDED", existing...)...)
}

func (w *webs) listed(c *cluster.Cluster) (names []string) {
	w.t.Helper()
	found, err := c.View().List(w.t.Context(), configMap, w.env.Namespace, nil)
	require.NoError(w.t, err)
	for _, obj := range found {
		names = append(names, obj.GetName())
	}
	return names
}

// queries records the selectors of lists and watches.
type queries struct {
	next http.RoundTripper
	mu   sync.Mutex
	seen []string
}

func (q *queries) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/configmaps") {
		q.mu.Lock()
		q.seen = append(q.seen, r.URL.Query().Get("labelSelector"))
		q.mu.Unlock()
	}
	return q.next.RoundTrip(r)
}

func TestSelectedObjectsLeave(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	w := newWebs(t, env)
	w.create("a", "b", "c", "d")
	asked := &queries{}
	config := rest.CopyConfig(env.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { asked.next = next; return asked })
	c := newCluster(t, config, cluster.Namespaces(env.Namespace), webOnly)
	w.subscribe(c, "a", "b", "c", "d")
	for reason, step := range map[string]struct {
		do   func()
		want []string
		// gets is the greatest number of reads. exact means that it is also the smallest.
		gets  int
		exact bool
	}{
		"watch 20: an object that lost its label has left, which one read shows": {func() { w.relabel("a", "db") }, w.of("LEFT", "a"), 1, true},
		"watch 20: a deleted object is deleted, which one read shows":            {func() { w.delete("b") }, w.of("DELETED", "b"), 1, true},
		"watch 20: an own deletion needs at most one read": {func() {
			require.NoError(t, c.Port().Delete(t.Context(), deploy.Ref{Kind: configMap, Namespace: env.Namespace, Name: "c"}, deploy.DeleteOptions{}))
		}, w.of("DELETED", "c"), 1, false},
		"watch 20: an own write that takes the label needs at most one read": {func() {
			patch := deploy.PatchRequest{Type: "application/merge-patch+json", Body: []byte(`{"metadata":{"labels":null}}`), FieldManager: "m"}
			_, err := c.Port().Patch(t.Context(), deploy.Ref{Kind: configMap, Namespace: env.Namespace, Name: "d"}, patch)
			require.NoError(t, err)
		}, w.of("LEFT", "d"), 1, false},
	} {
		t.Run(reason, func(t *testing.T) {
			mark := env.Mark(t)
			step.do()
			w.events.take(t, step.want...)
			gets := env.CallsSince(t, mark).Reads()
			assert.LessOrEqual(t, len(gets), step.gets, "%s", gets)
			assert.True(t, !step.exact || len(gets) == step.gets, "%s", gets)
		})
	}
	t.Run("watch 20: lists and watches carry the selector", func(t *testing.T) {
		assert.Empty(t, w.listed(c))
		asked.mu.Lock()
		defer asked.mu.Unlock()
		assert.NotEmpty(t, asked.seen)
		for _, selector := range asked.seen {
			assert.Equal(t, "tier=web", selector)
		}
	})
}

// What a list doesn't have any more may have left, too.
func TestSelectedObjectsLeaveWithAList(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	w := newWebs(t, env)
	w.create("gone", "left", "stays", "replaced")
	v := newValve(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/configmaps") })
	c := newCluster(t, v.between(env.Config), cluster.Namespaces(env.Namespace), webOnly)
	w.subscribe(c, "gone", "left", "stays", "replaced")
	v.shut()
	w.delete("gone")
	w.relabel("left", "db")
	w.delete("replaced")
	w.create("replaced")
	mark := env.Mark(t)
	v.expire()
	require.Eventually(t, func() bool { _, lists := v.count(); return lists == 1 }, patience, time.Millisecond, "what was forgotten is listed")
	v.open()
	w.events.take(t, append(w.of("DELETED", "gone", "replaced"), append(w.of("LEFT", "left"), w.of("ADDED", "replaced")...)...)...)
	assert.Len(t, env.CallsSince(t, mark).Reads(), 2, "one read for each object that the list lacks")
	assert.Equal(t, []string{"replaced", "stays"}, w.listed(c))
}

// failingReads fails the reads of single ConfigMaps.
type failingReads struct {
	next   http.RoundTripper
	broken atomic.Bool
	tried  sync.Map // by path
}

// of returns of how many objects reads have failed.
func (f *failingReads) of() (n int) {
	f.tried.Range(func(any, any) bool { n++; return true })
	return n
}

func (f *failingReads) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/configmaps/") && f.broken.Load() {
		f.tried.Store(r.URL.Path, true)
		return nil, errors.New("no route to the API server")
	}
	return f.next.RoundTrip(r)
}

// An event that isn't known isn't guessed.
func TestSelectedObjectsWaitForTheRead(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	w := newWebs(t, env)
	w.create("back", "gone", "left")
	reads := &failingReads{}
	config := rest.CopyConfig(env.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { reads.next = next; return reads })
	c := newCluster(t, config, cluster.Namespaces(env.Namespace), webOnly)
	w.subscribe(c, "back", "gone", "left")
	reads.broken.Store(true)
	w.relabel("left", "db")
	w.relabel("back", "db")
	w.delete("gone")
	require.Eventually(t, func() bool { return len(w.listed(c)) == 0 }, patience, time.Millisecond, "lists have what is selected")
	require.Eventually(t, func() bool { return reads.of() == 3 }, patience, time.Millisecond, "each is read")
	assert.Empty(t, w.events.all(), "no event until a read succeeds")
	w.relabel("back", "web")
	w.events.take(t, w.of("MODIFIED", "back")...)
	var late told
	subscription, err := c.View().Subscribe(t.Context(), configMap, late.handle)
	require.NoError(t, err)
	require.NoError(t, subscription.Synced(t.Context()))
	late.take(t, w.of("ADDED", "back", "gone", "left")...)
	reads.broken.Store(false)
	for _, events := range []*told{&w.events, &late} {
		events.take(t, append(w.of("LEFT", "left"), w.of("DELETED", "gone")...)...)
	}
}
