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
// it moved, as long as it hasn't moved again, and to none once it is gone.
func TestHistory(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		latest := "0"
		h := revision.History{}.Begin(of(latest))
		belongs := map[revision.Member]string{}
		for range 30 {
			before := fmt.Sprint(h)
			var next revision.History
			child := pod(random.IntN(4))
			switch random.IntN(5) {
			case 0, 1:
				latest = fmt.Sprint(random.IntN(4))
				next = h.Begin(of(latest))
			case 2:
				next = h.Move(nil, revision.Members{child: true})
				delete(belongs, child)
			default:
				next = h.Move(revision.Members{child: true}, nil)
				belongs[child] = latest
			}
			require.Equal(t, before, fmt.Sprint(h), "nothing is changed")
			require.GreaterOrEqual(t, next.Latest().Number, h.Latest().Number)
			h = stored(t, next)
			check(t, h, latest, belongs)
		}
	}
}

func of(fields string) revision.Revision {
	return revision.Revision{Name: fields, Paths: []string{"spec"}, Patch: map[string]any{"spec": fields}}
}

func check(t *testing.T, h revision.History, latest string, belongs map[revision.Member]string) {
	t.Helper()
	require.Equal(t, latest, h.Latest().Name)
	for i, one := range h[:len(h)-1] {
		require.NotEmpty(t, one.Children)
		require.Less(t, one.Number, h[i+1].Number)
	}
	for i := range 4 {
		name, place := "", h.Of(pod(i))
		if place >= 0 {
			name = h[place].Name
		}
		require.Equal(t, belongs[pod(i)], name)
		require.Equal(t, name == latest, h.IsLatest(pod(i)))
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
	require.Equal(t, fmt.Sprint(h), fmt.Sprint(read))
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
