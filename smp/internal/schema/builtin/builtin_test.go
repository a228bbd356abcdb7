package builtin

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/smp/internal/schema"
)

var deployment = kschema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}

func kinds() []kschema.GroupVersionKind { return slices.Collect(maps.Keys(load().kinds)) }

// What is read from the table must say, line by line, what the table says, and no block of it may
// be left over.
func TestTheWholeTableIsRead(t *testing.T) {
	t.Parallel()
	header, blocks, found := strings.Cut(text, "\n\n")
	require.True(t, found)
	want := map[string]bool{}
	for block := range strings.SplitSeq(strings.TrimSuffix(blocks, "\n"), "\n\n") {
		want[block] = true
	}
	got := map[string]bool{}
	all := kinds()
	for _, gvk := range all {
		read := Type(gvk)
		require.NotNil(t, read, gvk)
		assert.Contains(t, header+"\n", "kind "+gvk.GroupVersion().String()+" "+gvk.Kind+" "+read.Name+"\n")
		for block := range strings.SplitSeq(strings.TrimSuffix(schema.Text(read), "\n"), "\n\n") {
			got[block] = true
		}
	}
	assert.Equal(t, strings.Count(header, "\n")+1, len(all))
	assert.Greater(t, len(all), 70)
	assert.Equal(t, want, got)
}

func TestType(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		gvk   kschema.GroupVersionKind
		known bool
	}{
		"a kind with a group":              {deployment, true},
		"a kind of the core group":         {kschema.GroupVersionKind{Version: "v1", Kind: "Pod"}, true},
		"a kind of a second version":       {kschema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}, true},
		"smp 12: the kind alone is not it": {kschema.GroupVersionKind{Group: "serving.example.com", Version: "v1", Kind: "Service"}, false},
		"a version that isn't stable":      {kschema.GroupVersionKind{Group: "apps", Version: "v1beta1", Kind: "Deployment"}, false},
		"a list, which isn't patched":      {kschema.GroupVersionKind{Version: "v1", Kind: "PodList"}, false},
		"nothing":                          {kschema.GroupVersionKind{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.known, Type(row.gvk) != nil)
		})
	}
	assert.Same(t, Type(deployment).Fields["metadata"].Type, ObjectMeta(), "what kinds have in common is there once")
}

// The types of a kind refer to those of others, so each goroutine may find any of them half read.
func TestManyAskForTheFirstTime(t *testing.T) {
	t.Parallel()
	fresh := index(text)
	want := map[string]string{}
	for _, gvk := range kinds() {
		want[gvk.String()] = schema.Text(Type(gvk))
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, gvk := range kinds() {
				assert.Equal(t, want[gvk.String()], schema.Text(fresh.kind(gvk)))
			}
		})
	}
	all.Wait()
	assert.Same(t, fresh.kind(deployment), fresh.kind(deployment))
}

func TestTextThatIsNoTableHasNoKinds(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing":                  "",
		"a line of too few words":  "kind v1 Pod\n",
		"a version that isn't one": "kind a/b/c Pod io.Pod\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Empty(t, index(text).kinds)
		})
	}
}

func BenchmarkFirst(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if index(text).kind(deployment) == nil {
			b.Fatal("no Deployment")
		}
	}
}
