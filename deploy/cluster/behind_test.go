package cluster_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
)

// valve stands between a client and its API server. While it is shut watches bring nothing.
type valve struct {
	next http.RoundTripper
	// of says which watches it is in the way of.
	of func(r *http.Request) bool

	mu sync.Mutex
	// flowing is closed while it is open, expired once the watches that have begun by then are to end.
	flowing, expired chan struct{}
	// begun are the watches since they were last to end, lists how many of these begin with a list.
	begun, lists int
}

func newValve(of func(r *http.Request) bool) *valve {
	v := &valve{of: of, flowing: make(chan struct{}), expired: make(chan struct{})}
	v.open()
	return v
}

// between puts it between a client and its API server.
func (v *valve) between(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		v.next = next
		return v
	})
	return config
}

func (v *valve) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := v.next.RoundTrip(r)
	asked := r.URL.Query()
	if err != nil || response.StatusCode != http.StatusOK || asked.Get("watch") == "" || !v.of(r) {
		return response, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.begun++
	if asked.Get("sendInitialEvents") != "" {
		v.lists++
	}
	response.Body = &keptBack{response.Body, v, r.Context(), v.expired}
	return response, nil
}

func (v *valve) flow() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.flowing
}

func (v *valve) shut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.flowing = make(chan struct{})
}

func (v *valve) open() {
	v.mu.Lock()
	defer v.mu.Unlock()
	close(v.flowing)
}

// expire has the watches that have begun end with the next event: it is forgotten.
func (v *valve) expire() {
	v.mu.Lock()
	defer v.mu.Unlock()
	close(v.expired)
	v.expired, v.begun, v.lists = make(chan struct{}), 0, 0
}

func (v *valve) count() (begun, lists int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.begun, v.lists
}

// keptBack is the stream of a watch behind a valve.
type keptBack struct {
	io.ReadCloser
	valve *valve
	// ctx is that of its request.
	ctx     context.Context
	expired <-chan struct{}
}

func (k *keptBack) Read(p []byte) (int, error) {
	n, err := k.ReadCloser.Read(p)
	select {
	case <-k.valve.flow():
		return n, err
	case <-k.expired:
		return copy(p, `{"type":"ERROR","object":`+goneStatus+"}\n"), nil
	case <-k.ctx.Done():
		return 0, k.ctx.Err()
	}
}

// While a list comes as a stream, what is shown is from before it. What isn't in that is asked of the API server.
func TestAbsenceIsDoubtedUntilTheListHasCome(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	v := newValve(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/configmaps") })
	c := newCluster(t, v.between(env.Config), cluster.Namespaces(env.Namespace))
	watch(t, c, configMap)
	v.shut()
	v.expire()
	missed := object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: missed}}")
	_, err := others(t, env, configMap).Create(t.Context(), missed, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool { begun, _ := v.count(); return begun == 1 }, patience, time.Millisecond)
	_, lists := v.count()
	require.Equal(t, 1, lists, "what was forgotten is listed")
	for range 100 {
		obj, err := c.View().Get(t.Context(), deploy.RefOf(missed))
		require.NoError(t, err)
		require.NotNil(t, obj, "it is there, and the list doesn't tell of it yet")
		time.Sleep(2 * time.Millisecond)
	}
	v.open()
	never := deploy.Ref{Kind: configMap, Namespace: env.Namespace, Name: "never"}
	require.Eventually(t, func() bool {
		mark := env.Mark(t)
		obj, err := c.View().Get(t.Context(), never)
		return err == nil && obj == nil && len(env.CallsSince(t, mark).Reads()) == 0
	}, patience, 100*time.Millisecond, "a list that has come is believed")
}

// The namespaces in scope are followed by another watch than the one that reads are answered by, which may be behind
// it.
func TestOwnWritesAreReadUntilTheirWatchShowsThem(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	w := newTeams(t, env)
	w.create("a", nil)
	valveOf := func(scope bool) *valve {
		return newValve(func(r *http.Request) bool {
			return strings.HasSuffix(r.URL.Path, "/namespaces") && strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") == scope
		})
	}
	scope, reads := valveOf(true), valveOf(false)
	c := newCluster(t, scope.between(reads.between(env.Admin)), cluster.Namespaces(w.prefix+"-*"), cluster.NamespaceSelector(labels.SelectorFromSet(labels.Set{"tier": "prod"})))
	watch(t, c, namespaceKind)
	var events told
	subscription, err := c.View().Subscribe(t.Context(), configMap, func(event deploy.Event) {
		if event.New.GetName() == "settings" {
			events.handle(event)
		}
	})
	require.NoError(t, err)
	require.NoError(t, subscription.Synced(t.Context()))

	scope.shut()
	reads.shut()
	defer reads.open()
	team := object(t, "", "{apiVersion: v1, kind: Namespace, metadata: {name: "+w.name("a")+", labels: {tier: prod}}}")
	_, err = c.Port().Apply(t.Context(), team, deploy.ApplyOptions{FieldManager: "m"})
	require.NoError(t, err)
	scope.open()
	events.take(t, w.event("ADDED", "a", "settings")) // the scope has followed
	obj, err := c.View().Get(t.Context(), deploy.RefOf(team))
	require.NoError(t, err)
	require.NotNil(t, obj)
	assert.Equal(t, "prod", obj.GetLabels()["tier"], "a read is never older than an own write")
}

// Whoever waits for what a watch brings needn't once there is none any more.
func TestWaitingEndsWithTheCluster(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	for reason, row := range map[string]struct {
		// behind: the first list hasn't come.
		behind bool
		wait   func(ctx context.Context, view deploy.View, subscription deploy.Subscription, ref deploy.Ref) error
	}{
		"a subscriber": {true, func(ctx context.Context, _ deploy.View, subscription deploy.Subscription, _ deploy.Ref) error {
			return subscription.Synced(ctx)
		}},
		"a read": {true, func(ctx context.Context, view deploy.View, _ deploy.Subscription, ref deploy.Ref) error {
			_, err := view.Get(ctx, ref)
			return err
		}},
		"a list": {true, func(ctx context.Context, view deploy.View, _ deploy.Subscription, ref deploy.Ref) error {
			_, err := view.List(ctx, ref.Kind, ref.Namespace, nil)
			return err
		}},
		"who waits for a version": {false, func(ctx context.Context, view deploy.View, _ deploy.Subscription, ref deploy.Ref) error {
			return view.(cluster.Observer).Observed(ctx, ref, "9999999999")
		}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			v := newValve(func(*http.Request) bool { return row.behind })
			v.shut()
			c, end := endingCluster(t, v.between(env.Config), cluster.Namespaces(env.Namespace))
			subscription, err := c.View().Subscribe(t.Context(), configMap, func(deploy.Event) {})
			require.NoError(t, err)
			if row.behind {
				require.Eventually(t, func() bool { begun, _ := v.count(); return begun == 1 }, patience, time.Millisecond)
			} else {
				require.NoError(t, subscription.Synced(t.Context()))
			}
			waited := make(chan error, 1)
			go func() {
				ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
				defer cancel()
				waited <- row.wait(ctx, c.View(), subscription, deploy.Ref{Kind: configMap, Namespace: env.Namespace, Name: "a"})
			}()
			time.Sleep(100 * time.Millisecond)
			end()
			assert.ErrorIs(t, <-waited, context.Canceled)
		})
	}
}
