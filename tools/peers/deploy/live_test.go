package main

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/tools/envtest"
)

// TestLive checks that all sides do the work that they are measured at.
func TestLive(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.OwnCluster(components...))
	s, err := newServer(env.Admin)
	require.NoError(t, err)
	l := lab{server: func() (*server, error) { return s, nil }}
	t.Run("sides", func(t *testing.T) {
		for name, open := range map[string]opener{"operkit": newOperkit, "flux": newFlux, "CreateOrUpdate": newCreateOrUpdate} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				where, err := l.populate(t.Context(), open, hundred)
				require.NoError(t, err)
				checkContent(t, s.config, where, hundred)
				assert.NoError(t, pass(t, l, open, where, hundred, unchanged))
				assert.ErrorContains(t, pass(t, l, open, where, hundred, created), "was unchanged, not created")
				require.NoError(t, pass(t, l, open, where, changed, configured))
				checkContent(t, s.config, where, changed)
			})
		}
		t.Run("Apply", func(t *testing.T) {
			t.Parallel()
			where, err := l.populate(t.Context(), newRuntimeApply, hundred)
			require.NoError(t, err)
			checkContent(t, s.config, where, hundred)
			assert.ErrorContains(t, pass(t, l, newRuntimeApply, where, hundred, unchanged), "doesn't tell")
		})
		t.Run("an object that is refused", func(t *testing.T) {
			t.Parallel()
			where, err := l.namespace(t.Context())
			require.NoError(t, err)
			for _, open := range []opener{newOperkit, newFlux, newCreateOrUpdate, newRuntimeApply} {
				assert.ErrorContains(t, pass(t, l, open, where, refused, created), "No_Name")
			}
		})
	})
	// Alone, so that nothing but the counted client is at work.
	for name, row := range map[string]struct {
		measure func(ctx context.Context) (sent, error)
		writes  int
	}{
		"same":    {l.sameCalls, 0},
		"new":     {l.newCalls, 100},
		"change":  {l.changeCalls, 100},
		"restart": {func(ctx context.Context) (sent, error) { return l.restartCalls(ctx, hundred) }, 0},
	} {
		t.Run("calls: "+name, func(t *testing.T) {
			got, err := row.measure(t.Context())
			require.NoError(t, err)
			assert.Equal(t, row.writes, got.writes)
			assert.Zero(t, got.reads)
		})
	}
	t.Run("calls: all that are sent are counted", func(t *testing.T) {
		where, err := l.namespace(t.Context())
		require.NoError(t, err)
		var c calls
		side, err := l.open(t.Context(), counted(&c), where, hundred)
		require.NoError(t, err)
		defer side.close()
		opening := c.sent()
		assert.Equal(t, 6, opening.watches, "one for each kind")
		assert.Positive(t, opening.reads, "discovery")
		_, err = side.(*operkit).manager.Port().List(t.Context(), kinds(side.(*operkit).objects)[0], where, deploy.ListOptions{})
		require.NoError(t, err)
		assert.Equal(t, sent{reads: 1}, c.sent())
	})
}

// pass opens a side and has it make a pass.
func pass(t *testing.T, l lab, open opener, where string, objects source, want outcome) error {
	t.Helper()
	s, err := l.open(t.Context(), open, where, objects)
	require.NoError(t, err)
	defer s.close()
	return s.pass(t.Context(), want)
}

// checkContent checks that the objects of a namespace are those, and have all their fields.
func checkContent(t *testing.T, config *rest.Config, where string, objects source) {
	t.Helper()
	c, err := client.New(config, client.Options{})
	require.NoError(t, err)
	wanted, err := objects(where)
	require.NoError(t, err)
	for _, want := range wanted {
		live := &unstructured.Unstructured{}
		live.SetGroupVersionKind(want.GroupVersionKind())
		require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(want), live))
		if !holds(live.Object, want.Object) {
			t.Errorf("%s %s: %v doesn't hold %v", want.GetKind(), want.GetName(), live.Object, want.Object)
		}
	}
}

// holds tells whether all that is in want is in live.
func holds(live, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		content, _ := live.(map[string]any)
		for key, value := range want {
			if got, there := content[key]; !there || !holds(got, value) {
				return false
			}
		}
		return true
	case []any:
		content, _ := live.([]any)
		if len(content) != len(want) {
			return false
		}
		for i := range want {
			if !holds(content[i], want[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(live, want)
}

// refused is an object that the API server refuses.
func refused(where string) ([]*unstructured.Unstructured, error) {
	objects, err := hundred(where)
	if err != nil {
		return nil, err
	}
	objects[0].SetName("No_Name")
	return objects[:1], nil
}

func TestChanged(t *testing.T) {
	t.Parallel()
	before, err := hundred("a")
	require.NoError(t, err)
	after, err := changed("a")
	require.NoError(t, err)
	require.Len(t, before, 100)
	require.Len(t, after, 100)
	for i := range before {
		assert.False(t, holds(before[i].Object, after[i].Object), "%s %s is the same", before[i].GetKind(), before[i].GetName())
	}
	other, err := hundred("b")
	require.NoError(t, err)
	assert.Equal(t, "a", before[0].GetNamespace(), "each call has objects of its own")
	assert.Equal(t, "b", other[0].GetNamespace())
	many, err := thousand("a")
	require.NoError(t, err)
	names := map[string]bool{}
	for _, obj := range many {
		names[obj.GetKind()+"/"+obj.GetName()] = true
	}
	assert.Len(t, names, 1000)
}

// TestStartsOnDemand: what isn't measured starts no control plane.
func TestStartsOnDemand(t *testing.T) {
	t.Parallel()
	asked := 0
	l := lab{server: func() (*server, error) { asked++; return nil, errors.New("none") }}
	names := map[string]bool{}
	for _, pair := range l.livePairs() {
		names[pair.Name] = true
	}
	counts := l.liveCounts()
	for _, count := range counts {
		names[count.Name] = true
	}
	assert.Len(t, names, 8)
	assert.Zero(t, asked)
	_, err := counts[0].Measure()
	assert.EqualError(t, err, "none")
	assert.Equal(t, 1, asked)
}
