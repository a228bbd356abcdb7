package cluster_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// chain checks that the events of a subscription tell one story: an object comes once, each change goes on from the
// state that was told before, and what went was there.
type chain struct {
	prefix string

	mu    sync.Mutex
	shown map[string]*unstructured.Unstructured
	// told are the events, wrong those that can't be.
	told, wrong []string
}

// newChain is one of the objects whose names begin with prefix.
func newChain(prefix string) *chain {
	return &chain{prefix: prefix, shown: map[string]*unstructured.Unstructured{}}
}

func (c *chain) handle(event deploy.Event) {
	name := event.New.GetName()
	if len(name) < len(c.prefix) || name[:len(c.prefix)] != c.prefix {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.shown[name]
	text := link(event.Type, name, event.New)
	c.told = append(c.told, text)
	possible := before != nil
	switch event.Type {
	case deploy.Added:
		possible = before == nil
		c.shown[name] = event.New
	case deploy.Modified:
		possible = possible && asTold(event.Old, before) && later(event.New, before) && event.New.GetUID() == before.GetUID()
		c.shown[name] = event.New
	default:
		delete(c.shown, name)
	}
	if !possible {
		c.wrong = append(c.wrong, fmt.Sprintf("%s after version %s", text, before.GetResourceVersion()))
	}
}

// link is the text of an event. The version of a deletion depends on who tells of it.
func link(what deploy.EventType, name string, obj *unstructured.Unstructured) string {
	if what == deploy.Deleted {
		return fmt.Sprintf("%s %s", what, name)
	}
	return fmt.Sprintf("%s %s %s", what, name, obj.GetResourceVersion())
}

// asTold tells whether old is what was told before, in the same state: a list brings another copy of that.
func asTold(old, before *unstructured.Unstructured) bool {
	return old != nil && old.GetUID() == before.GetUID() && old.GetResourceVersion() == before.GetResourceVersion()
}

func later(a, b *unstructured.Unstructured) bool {
	first, problem := strconv.ParseInt(a.GetResourceVersion(), 10, 64)
	second, other := strconv.ParseInt(b.GetResourceVersion(), 10, 64)
	return problem == nil && other == nil && first > second
}

func (c *chain) events() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.told)
}

// versions are those of what is shown, by name.
func (c *chain) versions() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	versions := map[string]string{}
	for name, obj := range c.shown {
		versions[name] = obj.GetResourceVersion()
	}
	return versions
}

// arrives waits until the events have led to what there is, and checks each of them.
func (c *chain) arrives(t testing.TB, want func() (map[string]string, error)) {
	t.Helper()
	var there map[string]string
	require.Eventually(t, func() bool {
		var err error
		there, err = want()
		return err == nil && maps.Equal(there, c.versions())
	}, patience, 20*time.Millisecond, "something is lost: there is %v, told was %v", there, c)
	c.mu.Lock()
	defer c.mu.Unlock()
	assert.Empty(t, c.wrong)
}

// author creates, changes and deletes ConfigMaps all the time.
type author struct {
	client dynamic.ResourceInterface
	env    *envtest.Env
	prefix string
	// wrote are the events that this should make, in order.
	wrote []string
	// pace is called before each write, unless it is nil.
	pace func()
}

// write goes on until ctx ends, with a pause after each write.
func (a *author) write(t testing.TB, ctx context.Context, pause time.Duration) {
	t.Helper()
	for ctx.Err() == nil {
		n := len(a.wrote)
		if a.pace != nil {
			a.pace()
		}
		name := fmt.Sprintf("%s%d", a.prefix, n%5)
		round := n / 5 % 8
		var obj *unstructured.Unstructured
		var err error
		what := deploy.Modified
		switch round {
		case 0:
			what = deploy.Added
			obj, err = a.client.Create(t.Context(), settings(t, a.env, name, "0"), metav1.CreateOptions{})
		case 7:
			what = deploy.Deleted
			err = a.client.Delete(t.Context(), name, metav1.DeleteOptions{})
		default:
			obj, err = a.client.Update(t.Context(), settings(t, a.env, name, strconv.Itoa(n)), metav1.UpdateOptions{})
		}
		require.NoError(t, err)
		a.wrote = append(a.wrote, link(what, name, obj))
		time.Sleep(pause)
	}
}

// insist does the same while the API server is away now and then: it makes each write again until that is done.
func (a *author) insist(t testing.TB, ctx context.Context, pause time.Duration) {
	t.Helper()
	for n := 0; ctx.Err() == nil; n++ {
		name := fmt.Sprintf("%s%d", a.prefix, n%5)
		require.Eventually(t, func() bool {
			brief, end := context.WithTimeout(t.Context(), 2*time.Second)
			defer end()
			var err error
			if n/5%8 == 7 {
				err = a.client.Delete(brief, name, metav1.DeleteOptions{})
				return err == nil || apierrors.IsNotFound(err)
			}
			obj := settings(t, a.env, name, strconv.Itoa(n))
			_, err = a.client.Apply(brief, name, obj, metav1.ApplyOptions{FieldManager: "author", Force: true})
			return err == nil
		}, 3*patience, 50*time.Millisecond, "no write is possible")
		time.Sleep(pause)
	}
}

// there are the versions of the author's objects.
func (a *author) there(ctx context.Context) (map[string]string, error) {
	list, err := a.client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for _, obj := range list.Items {
		if name := obj.GetName(); len(name) > len(a.prefix) && name[:len(a.prefix)] == a.prefix {
			versions[name] = obj.GetResourceVersion()
		}
	}
	return versions, nil
}

// agrees checks that the view shows what the events told.
func (c *chain) agrees(t testing.TB, view deploy.View, namespace string) {
	t.Helper()
	listed, err := view.List(t.Context(), configMap, namespace, nil)
	require.NoError(t, err)
	versions := map[string]string{}
	for _, obj := range listed {
		if name := obj.GetName(); len(name) > len(c.prefix) && name[:len(c.prefix)] == c.prefix {
			versions[name] = obj.GetResourceVersion()
		}
	}
	assert.Equal(t, c.versions(), versions)
}

// follow subscribes a chain to the ConfigMaps of c.
func (c *chain) follow(t testing.TB, of *cluster.Cluster) {
	t.Helper()
	subscription, err := of.View().Subscribe(t.Context(), configMap, c.handle)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return subscription.Synced(t.Context()) == nil }, patience, 10*time.Millisecond)
}
