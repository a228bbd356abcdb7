package revision_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/operkit/operkit/reconcile/desired/internal/revision"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "operkit.dev/children"

func pod(i int) revision.Member {
	return revision.Member{Kind: schema.GroupKind{Kind: "Pod"}, Name: fmt.Sprint("pod-", i)}
}

// TestHistory lets fields change and children move at random. A child belongs to the revision that was the latest when
// it moved, as long as it hasn't moved again.
func TestHistory(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		var h revision.History
		latest := "0"
		h = h.Begin(latest, map[string]any{"spec": latest}, nil)
		belongs := map[revision.Member]string{}
		var existing []revision.Member
		for i := range 4 {
			existing = append(existing, pod(i))
			belongs[pod(i)] = latest
		}
		for range 30 {
			before := fmt.Sprint(h)
			var next revision.History
			if random.IntN(3) == 0 {
				latest = fmt.Sprint(random.IntN(4))
				next = h.Begin(latest, map[string]any{"spec": latest}, existing)
			} else {
				moved := pod(random.IntN(len(existing)))
				next = h.Move(revision.Members{moved: true})
				belongs[moved] = latest
			}
			require.Equal(t, before, fmt.Sprint(h), "nothing is changed")
			require.GreaterOrEqual(t, next.Latest(), h.Latest())
			h = next
			check(t, h, latest, belongs)
			h = stored(t, h)
			check(t, h, latest, belongs)
		}
	}
}

func check(t *testing.T, h revision.History, latest string, belongs map[revision.Member]string) {
	t.Helper()
	require.Equal(t, latest, h[len(h)-1].Name)
	require.Nil(t, h[len(h)-1].Children, "the latest one has all others")
	for i, one := range h[:len(h)-1] {
		require.NotEmpty(t, one.Children)
		require.Less(t, one.Number, h[i+1].Number)
	}
	for child, name := range belongs {
		place := h.Past(child)
		if place < 0 {
			place = len(h) - 1
		}
		require.Equal(t, name, h[place].Name, child.Name)
	}
}

// stored returns the history that is read from the objects of a history, which come in another order.
func stored(t *testing.T, h revision.History) revision.History {
	t.Helper()
	var objects []*unstructured.Unstructured
	for i := range h {
		objects = append(objects, h[len(h)-1-i].Object("test", key))
	}
	read, err := revision.Read(objects, key)
	require.NoError(t, err)
	require.Equal(t, h, read)
	return read
}

// The names in an annotation are those of any children, and what isn't such names is an error.
func FuzzMembers(f *testing.F) {
	for _, text := range []string{"", "[]", "null", "{}", `{"Pod":["a","b"],"Cat.example.dev":["c"]}`, `{"Pod":"a"}`, `{"":[""]}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		obj := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a", "annotations": map[string]any{key: text}}}}
		h, err := revision.Read([]*unstructured.Unstructured{obj}, key)
		if err != nil {
			assert.ErrorContains(t, err, "ControllerRevision a: annotation operkit.dev/children: ")
			return
		}
		again, err := revision.Read([]*unstructured.Unstructured{h[0].Object("test", key)}, key)
		require.NoError(t, err)
		assert.Equal(t, h[0].Children, again[0].Children)
	})
}
