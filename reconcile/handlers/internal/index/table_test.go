package index

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var pods = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}

func nameOf(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// model is what a Table should be: the values of each object.
type model map[types.NamespacedName]map[string]int

// get returns the values of a key in the order of the objects.
func (m model) get(key string) (values []int) {
	names := slices.SortedFunc(maps.Keys(m), func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, name := range names {
		if value, has := m[name][key]; has {
			values = append(values, value)
		}
	}
	return values
}

func (m model) keys() []string {
	keys := map[string]bool{}
	for _, values := range m {
		for key := range values {
			keys[key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// Random updates give the same as the model, whatever their order.
func TestTableAgainstModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 63))
		table, m := newTable[string, int](pods), model{}
		for step := range 100 {
			name := nameOf(fmt.Sprint(r.IntN(2)), fmt.Sprint(r.IntN(12)))
			if r.IntN(4) == 0 {
				table.set(name, "", nil)
				delete(m, name)
			} else {
				values := map[string]int{}
				for range r.IntN(4) {
					values[fmt.Sprint(r.IntN(6))] = step
				}
				table.set(name, "", values)
				m[name] = values
			}
			if key := fmt.Sprint(r.IntN(6)); r.IntN(3) == 0 {
				require.Equal(t, m.get(key), table.Get(key), "seed %d, step %d", seed, step)
			}
		}
		require.Equal(t, m.keys(), slices.Sorted(slices.Values(table.Keys())), "seed %d: handlers 63: keys without values vanish", seed)
		require.Equal(t, len(m.keys()), table.Len())
		for _, key := range m.keys() {
			require.Equal(t, m.get(key), table.Get(key), "seed %d, key %s", seed, key)
		}
		for name := range m {
			table.set(name, "", nil)
		}
		require.Empty(t, table.rows)
		require.Empty(t, table.objects)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	t.Run("handlers 63: the values of a key are those of all objects, in the order of the objects", func(t *testing.T) {
		t.Parallel()
		table := newTable[string, string](pods)
		table.set(nameOf("b", "a"), "", map[string]string{"data": "3"})
		table.set(nameOf("a", "b"), "", map[string]string{"data": "2", "logs": "4"})
		table.set(nameOf("a", "a"), "", map[string]string{"data": "1"})
		assert.Equal(t, []string{"1", "2", "3"}, table.Get("data"))
		var found []string
		for ref, value := range table.Objects("data") {
			table.set(nameOf("b", "a"), "", nil) // what is read stays as it is
			found = append(found, ref.String()+"="+value)
		}
		assert.Equal(t, []string{"Pod a/a=1", "Pod a/b=2", "Pod b/a=3"}, found)
		for range table.Objects("data") {
			break
		}
		assert.Nil(t, table.Get("other"))
		assert.Equal(t, 2, table.Len())
	})
	t.Run("handlers 63: a row that was large doesn't hold its memory", func(t *testing.T) {
		t.Parallel()
		table := newTable[string, int](pods)
		for i := range 1000 {
			table.set(nameOf("a", fmt.Sprint(i)), "", map[string]int{"data": i})
		}
		for i := range 995 {
			table.set(nameOf("a", fmt.Sprint(i)), "", nil)
		}
		assert.Equal(t, []int{995, 996, 997, 998, 999}, table.Get("data"))
		assert.LessOrEqual(t, cap(table.rows["data"].cells), 32)
	})
}

func TestTableConcurrently(t *testing.T) {
	t.Parallel()
	t.Run("handlers 64: readers see each object once, in the order of the objects, while others write", testTableConcurrently)
}

func testTableConcurrently(t *testing.T) {
	table := newTable[string, int](pods)
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for w := range 4 {
		writers.Go(func() {
			for i := range 2000 {
				name := nameOf("a", fmt.Sprint(w, i%5))
				switch i % 7 {
				case 3:
					table.set(name, "", nil)
				default:
					table.set(name, "", map[string]int{"all": i, fmt.Sprint(i % 3): i})
				}
			}
		})
	}
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				var last string
				for ref := range table.Objects("all") {
					assert.Less(t, last, ref.Name, "in the order of the objects, each once")
					last = ref.Name
				}
				assert.LessOrEqual(t, len(table.Get("1")), 20)
				_, _ = table.Keys(), table.Len()
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
}

func BenchmarkTable(b *testing.B) {
	const objects = 100_000
	names := make([]types.NamespacedName, objects)
	for i := range names {
		names[i] = nameOf("shop", fmt.Sprintf("pod-%06d", i))
	}
	for _, row := range []struct {
		name string
		keys int
	}{{"a key for each object", objects}, {"one key for all", 1}} {
		keys := make([]string, row.keys)
		for i := range keys {
			keys[i] = fmt.Sprintf("claim-%06d", i)
		}
		valuesOf := func(i int) map[string]string { return map[string]string{keys[i%row.keys]: "value"} }
		filled := func() *Table[string, string] {
			table := newTable[string, string](pods)
			for i, name := range names {
				table.set(name, "", valuesOf(i))
			}
			return table
		}
		b.Run("fill/"+row.name, func(b *testing.B) {
			var before, after runtime.MemStats
			for b.Loop() {
				runtime.GC()
				runtime.ReadMemStats(&before)
				table := filled()
				runtime.GC()
				runtime.ReadMemStats(&after)
				runtime.KeepAlive(table)
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/objects, "B/object")
		})
		table := filled()
		b.Run("same keys/"+row.name, func(b *testing.B) {
			b.ReportAllocs()
			values := valuesOf(5)
			for b.Loop() {
				table.set(names[5], "", values)
			}
		})
		b.Run("another key and back/"+row.name, func(b *testing.B) {
			b.ReportAllocs()
			values, other := valuesOf(5), map[string]string{"other": "value"}
			for b.Loop() {
				table.set(names[5], "", other)
				table.set(names[5], "", values)
			}
		})
	}
	b.Run("get", func(b *testing.B) {
		table := newTable[string, string](pods)
		for i, name := range names {
			table.set(name, "", map[string]string{fmt.Sprint(i): "value"})
		}
		b.ReportAllocs()
		for b.Loop() {
			_ = table.Get("7")
		}
	})
}
