package dag_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

func TestGraphNodes(t *testing.T) {
	t.Parallel()
	t.Run("dag 1: a new graph is empty until a node is added", func(t *testing.T) {
		t.Parallel()
		g := dag.New[int]()
		assert.Equal(t, 0, g.Len())
		assert.Empty(t, g.Names())
		assert.Equal(t, "Graph({})", g.String())
		require.NoError(t, g.Add("a", 1))
		assert.Equal(t, 1, g.Len())
	})
	t.Run("dag 1: the zero value is an empty graph", func(t *testing.T) {
		t.Parallel()
		var g dag.Graph[int]
		require.NoError(t, g.Add("a", 1))
		require.NoError(t, g.Add("b", 1))
		require.NoError(t, g.Depend("a", "b"))
		assert.Equal(t, []string{"b", "a"}, g.Topology())
	})
	t.Run("dag 2: a failed add leaves the graph unchanged", func(t *testing.T) {
		t.Parallel()
		g := dag.New[int]()
		require.NoError(t, g.Add("a", 1))
		require.ErrorIs(t, g.Add("", 2), dag.ErrInvalidNode)
		err := g.Add("a", 3)
		require.ErrorIs(t, err, dag.ErrDuplicateNode)
		assert.EqualError(t, err, `node "a": the graph already has a node of that name`)
		assert.Equal(t, "Graph({a:[]})", g.String())
		data, ok := g.Node("a")
		assert.True(t, ok)
		assert.Equal(t, 1, data, "the data of the first add stays")
	})
	t.Run("dag 3: every node is part of the graph, with or without dependencies", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"b", "a", "lonely"}, [2]string{"b", "a"})
		r := &recorder{}
		state, err := dag.Run(t.Context(), g, r.visit, dag.Concurrency(0))
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b", "lonely"}, state.Verified())
		assert.Equal(t, []string{"a", "lonely", "b"}, r.order())
	})
	t.Run("dag 8: lookup by name, iteration in the order of insertion", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"c", "a", "b"})
		assert.Equal(t, []string{"c", "a", "b"}, g.Names())
		data, ok := g.Node("a")
		assert.True(t, ok)
		assert.Equal(t, "a", data)
		for _, unknown := range []string{"", "d"} {
			data, ok = g.Node(unknown)
			assert.False(t, ok, "%q", unknown)
			assert.Empty(t, data)
		}
	})
	t.Run("dag 8: what Names returns belongs to the caller", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"c", "a"})
		g.Names()[0] = "z"
		g.Topology()[0] = "z"
		assert.Equal(t, []string{"c", "a"}, g.Names())
		assert.Equal(t, []string{"a", "c"}, g.Topology())
	})
	t.Run("dag 13: nothing but the name identifies and orders a node", func(t *testing.T) {
		t.Parallel()
		// Comparing functions or slices would panic.
		g := dag.New[any]()
		same := func() {}
		require.NoError(t, g.Add("b", same))
		require.NoError(t, g.Add("a", same))
		require.NoError(t, g.Add("c", []int{1}))
		assert.ErrorIs(t, g.Add("a", "another"), dag.ErrDuplicateNode)
		assert.Equal(t, []string{"a", "b", "c"}, g.Topology())
	})
}

func TestGraphEdges(t *testing.T) {
	t.Parallel()
	t.Run("dag 4: unknown endpoints are told apart", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"a"})
		for _, row := range []struct {
			dependent, dependency, name string
			role                        dag.Role
		}{
			{"x", "a", "x", dag.RoleParent},
			{"a", "x", "x", dag.RoleChild},
			{"x", "y", "x", dag.RoleParent}, // the dependent is looked up first
			{"", "a", "", dag.RoleParent},   // a nameless node can't be there: no public root
			{"a", "", "", dag.RoleChild},
		} {
			err := g.Depend(row.dependent, row.dependency)
			var unknown *dag.UnknownNodeError
			require.ErrorAs(t, err, &unknown)
			assert.Equal(t, dag.UnknownNodeError{Name: row.name, Role: row.role}, *unknown)
		}
		assert.EqualError(t, g.Depend("a", "x"),
			`node "x": not in the graph, but named as the child of a dependency: add it first`)
		assert.Equal(t, "Graph({a:[]})", g.String())
	})
	t.Run("dag 6: an edge made again replaces its predicate", func(t *testing.T) {
		t.Parallel()
		never := dag.When(func(context.Context) (bool, error) { return false, nil })
		always := dag.When(func(context.Context) (bool, error) { return true, nil })
		for _, row := range []struct {
			why           string
			first, second []dag.EdgeOption
			verified      []string
		}{
			{"without after with", []dag.EdgeOption{never}, nil, []string{"a", "b"}},
			{"with after without", nil, []dag.EdgeOption{never}, []string{"a"}},
			{"another one", []dag.EdgeOption{never}, []dag.EdgeOption{always}, []string{"a", "b"}},
			{"the last option of a call counts", nil, []dag.EdgeOption{always, never}, []string{"a"}},
			{"When(nil) is no predicate", []dag.EdgeOption{never}, []dag.EdgeOption{dag.When(nil)}, []string{"a", "b"}},
			{"a nil option is none", []dag.EdgeOption{never}, []dag.EdgeOption{nil}, []string{"a", "b"}},
		} {
			g := graphOf(t, []string{"a", "b"})
			require.NoError(t, g.Depend("b", "a", row.first...))
			_, err := dag.Run(t.Context(), g, nil)
			require.NoError(t, err)
			require.NoError(t, g.Depend("b", "a", row.second...))
			assert.Equal(t, "Graph({a:[],b:[a]})", g.String(), row.why)
			state, err := dag.Run(t.Context(), g, nil)
			require.NoError(t, err)
			assert.Equal(t, row.verified, state.Verified(), row.why)
		}
	})
	t.Run("dag 6: an edge is found whichever of its ends has more of them", func(t *testing.T) {
		t.Parallel()
		names := []string{"hub", "sink"}
		for i := range 20 {
			names = append(names, string(rune('a'+i)))
		}
		g := graphOf(t, names)
		for range 2 {
			for _, name := range names[2:] {
				require.NoError(t, g.Depend("hub", name))
				require.NoError(t, g.Depend(name, "sink"))
			}
		}
		assert.Contains(t, g.String(), "hub:[a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t],sink:[],a:[sink],b:[sink]")
	})
	t.Run("dag 7: a dependency without When has no predicate", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"a", "b"}, [2]string{"b", "a"})
		state, err := dag.Run(t.Context(), g, nil)
		require.NoError(t, err)
		assert.True(t, state.VerifyCompleted())
	})
	t.Run("dag 11: the text form keeps the order of insertion of nodes and edges", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, "Graph({a:[b],b:[]})", graphOf(t, []string{"a", "b"}, [2]string{"a", "b"}).String())
		assert.Equal(t, "Graph({z:[y,a],a:[],y:[]})",
			graphOf(t, []string{"z", "a", "y"}, [2]string{"z", "y"}, [2]string{"z", "a"}).String())
	})
}

// manifest is what a caller who deals with Kubernetes objects would hang on a node.
type manifest struct {
	object map[string]any
	verify func(map[string]any) bool
	method string
}

func TestGraphData(t *testing.T) {
	t.Parallel()
	t.Run("dag 12: a manifest, its verify function and its deploy method travel as data, untouched", func(t *testing.T) {
		t.Parallel()
		object := map[string]any{"apiVersion": "v1", "kind": "Pod"}
		node := &manifest{object: object, method: "replace", verify: func(o map[string]any) bool { return o["kind"] == "Pod" }}
		g := dag.New[*manifest]()
		require.NoError(t, g.Add("pod", node))
		stored, _ := g.Node("pod")
		assert.Same(t, node, stored)
		state, err := dag.Run(t.Context(), g, func(_ context.Context, _ string, m *manifest) error {
			if m != node || m.method != "replace" || !m.verify(m.object) {
				return assert.AnError
			}
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"pod"}, state.Verified())
		assert.Equal(t, map[string]any{"apiVersion": "v1", "kind": "Pod"}, object)
	})
}

func TestNilGraph(t *testing.T) {
	t.Parallel()
	var g *dag.Graph[int]
	require.ErrorIs(t, g.Add("a", 1), dag.ErrNilGraph)
	require.ErrorIs(t, g.Depend("a", "b"), dag.ErrNilGraph)
	g.Disable("a")
	g.Enable("a")
	assert.Equal(t, 0, g.Len())
	assert.Empty(t, g.Names())
	assert.Empty(t, g.Topology())
	assert.Equal(t, "Graph({})", g.String())
	assert.NoError(t, g.Validate())
	_, ok := g.Node("a")
	assert.False(t, ok)
	t.Run("dag 14: without a graph a run is one of an empty graph", func(t *testing.T) {
		t.Parallel()
		state, err := dag.Run(t.Context(), g, nil)
		require.NoError(t, err)
		assert.True(t, state.VerifyCompleted())
		assert.Empty(t, state.All())
	})
}

func TestGraphConcurrentUse(t *testing.T) {
	t.Parallel()
	g := graphOf(t, []string{"a", "b"}, [2]string{"b", "a"})
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 50 {
				name := string(rune('c'+worker)) + string(rune('0'+i))
				assert.NoError(t, g.Add(name, name))
				assert.NoError(t, g.Depend(name, "a"))
				g.Disable(name)
				g.Enable(name)
				_, err := dag.Run(t.Context(), g, nil, dag.Concurrency(2))
				assert.NoError(t, err)
				_ = g.String()
				assert.NotEmpty(t, g.Topology())
				_, ok := g.Node(name)
				assert.True(t, ok)
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 202, g.Len())
}
