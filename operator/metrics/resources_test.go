package metrics

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// shelf is a controller whose resources have two components, one of which waits.
type shelf struct{ kind schema.GroupVersionKind }

func (s shelf) Kind() schema.GroupVersionKind { return s.kind }

func (shelf) Setup(_ context.Context, s *reconcile.Session) error {
	closed := func(context.Context, *reconcile.Component) (bool, error) { return false, nil }
	s.Add("board", configMap(s.Name()))
	s.Add("books", configMap(s.Name()+"-books")).After(s.Component("board"), closed)
	return nil
}

func configMap(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}}}
}

func TestStandings(t *testing.T) {
	t.Parallel()
	m := New("shelf-operator", "")
	for _, group := range []string{"a.example", "b.example"} {
		kind := schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Shelf"}
		var objects []*unstructured.Unstructured
		for i := range 15 {
			shelf := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"version": fmt.Sprintf("%s-%d", group, i/2)}}}
			shelf.SetGroupVersionKind(kind)
			shelf.SetNamespace("shop")
			shelf.SetName(fmt.Sprint("s", i))
			objects = append(objects, shelf)
		}
		memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(objects...))
		require.NoError(t, err)
		manager, err := deploy.NewManager(memory)
		require.NoError(t, err)
		r, err := reconcile.New(shelf{kind}, manager, reconcile.Logger(slog.New(slog.DiscardHandler)))
		require.NoError(t, err)
		m.Resources(kind, r)
		for i := range 15 {
			_, err := r.Reconcile(t.Context(), request.Request{Key: deploy.Ref{Kind: kind, Namespace: "shop", Name: fmt.Sprint("s", i)}})
			require.NoError(t, err)
		}
	}
	page := m.page(t)
	for _, want := range []string{
		`operkit_resources{controller="Shelf",standing="waiting"} 30`, `operkit_resources{controller="Shelf",standing="settled"} 0`,
		`operkit_components{controller="Shelf",state="unstarted"} 30`, `operkit_components{controller="Shelf",state="verified"} 30`,
		`operkit_resources_by_version{controller="Shelf",version="a.example-0"} 2`,
	} {
		assert.Contains(t, page, "\n"+want+"\n", "kinds of one name in two groups are counted together")
	}
	assert.Equal(t, 16, strings.Count(page, "\noperkit_resources_by_version{"))
	m.Released(schema.GroupVersionKind{Group: "a.example", Version: "v1", Kind: "Shelf"})
	assert.Contains(t, m.page(t), "\n"+`operkit_resources{controller="Shelf",standing="waiting"} 15`+"\n", "one that is no longer reconciled")
}

// tallying is a standing.Provider.
type tallying struct{ tally standing.Tally }

func (t tallying) Tally() standing.Tally { return t.tally }

func TestDaemons(t *testing.T) {
	t.Parallel()
	m := New("shelf-operator", "")
	m.Resources(schema.GroupVersionKind{Version: "v1", Kind: "Shelf"}, tallying{standing.Tally{Daemons: map[string]int{"running": 2, "abandoned": 0}}})
	page := m.page(t)
	assert.Contains(t, page, "\n"+`operkit_daemons{controller="Shelf",state="running"} 2`+"\n")
	assert.Contains(t, page, "\n"+`operkit_daemons{controller="Shelf",state="abandoned"} 0`+"\n")
}

func TestBounded(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	for i := range 100 {
		counts[fmt.Sprintf("1.%02d", i)] = 1 + i%2
	}
	few := bounded(counts)
	assert.Len(t, few, mostVersions+1)
	assert.Equal(t, 150-2*mostVersions, few[other], "resources of rare versions aren't lost")
	assert.Equal(t, 2, few["1.01"], "the most frequent ones have their own line, of equals the first")
	assert.NotContains(t, few, "1.99")
	delete(counts, "1.99")
	assert.Equal(t, map[string]int{"1": 2}, bounded(map[string]int{"1": 2}), "few are as they are")
}

func TestGivenUp(t *testing.T) {
	t.Parallel()
	m := New("shelf-operator", "")
	m.Resources(schema.GroupVersionKind{Version: "v1", Kind: "Shelf"}, tallying{standing.Tally{GivenUp: map[string]int{"cloud": 2, "audit": 0}}})
	page := m.page(t)
	assert.Contains(t, page, "\n"+`operkit_watchers_given_up_total{controller="Shelf",watcher="cloud"} 2`+"\n")
	assert.Contains(t, page, "\n"+`operkit_watchers_given_up_total{controller="Shelf",watcher="audit"} 0`+"\n")
}
