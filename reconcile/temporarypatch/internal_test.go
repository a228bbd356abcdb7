package temporarypatch

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

const key = "operkit.dev/temporary-patches"

func annotated(text string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetAnnotations(map[string]string{key: text})
	return obj
}

// FuzzAnnotation: whatever stands there, what is set is read back, what others have stays, and nothing else
// is there afterwards.
func FuzzAnnotation(f *testing.F) {
	for _, text := range []string{``, `{}`, `null`, `{"a":7}`, `{"a":{"timestamp":"2020-01-01T00:00:00","api_version":"v1"}}`, `{"b":{"x":[1,{"y":"<&>"}]},"b":2}`, `[1]`, `{"a":`} {
		f.Add(text, "a")
	}
	c := &Controller{options: options{kind: DefaultKind, now: func() time.Time { return time.Unix(1e9, 5) }}}
	f.Fuzz(func(t *testing.T, text, name string) {
		found, err := parseEntries(annotated(text), key)
		if err != nil {
			assert.ErrorContains(t, err, key)
			return
		}
		before := len(found)
		_, existed, _ := found.get(name)
		for other := range found {
			if e, ok, err := found.get(other); err == nil {
				assert.True(t, ok)
				assert.NotEmpty(t, e.APIVersion)
				assert.NotEmpty(t, e.Kind)
				e.time()
			}
		}
		want := entry{Timestamp: timestamp(time.Unix(1e9, 5)), APIVersion: "operkit.dev/v1", Kind: "TemporaryPatch", Generation: 7, UID: "u"}
		delete(found, name)
		changed, err := c.recording(&TemporaryPatch{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 7, UID: "u"}})(found)
		require.NoError(t, err)
		assert.True(t, changed)
		written, err := json.Marshal(found)
		require.NoError(t, err)
		again, err := parseEntries(annotated(string(written)), key)
		require.NoError(t, err)
		if !existed {
			before++
		}
		if !utf8.ValidString(name) {
			return // no name of an object; JSON can't hold it
		}
		got, ok, err := again.get(name)
		require.NoError(t, err)
		assert.True(t, ok)
		assert.Equal(t, want, got)
		assert.Len(t, again, before)
		for other, raw := range found {
			assert.JSONEq(t, string(raw), string(again[other]))
		}
	})
}

// FuzzTree: reading and walking a tree never panics, and each place is either matched or told.
func FuzzTree(f *testing.F) {
	for _, tree := range []string{`{}`, `{"web":{"deployment":{"spec":1}}}`, `{"a":{"b":{"c":{"d":[1]}}}}`, `{"a":[1]}`, `{"a":{"":{"":1}}}`, `{"a.b":{"c":1},"a":{"b":{"c":2}}}`, `7`, `null`} {
		f.Add(tree, "web", "deployment")
		f.Add(tree, "a.b", "c")
	}
	f.Fuzz(func(t *testing.T, tree, component, object string) {
		b, err := bodiesOf(TemporaryPatchSpec{Patch: &runtime.RawExtension{Raw: []byte(tree)}})
		if err != nil {
			return
		}
		before, _ := json.Marshal(b.tree)
		contents, at := b.find(component, object)
		require.Len(t, at, len(contents))
		matched := map[place]bool{}
		for i, content := range contents {
			assert.False(t, empty(content))
			matched[at[i]] = true
		}
		all, rest := b.unmatched(nil), b.unmatched(matched)
		if len(matched) == 0 {
			assert.Equal(t, all, rest)
		}
		for _, name := range rest {
			assert.NotContains(t, matched, placeOf(strings.SplitN(name, ".", 2)...))
		}
		after, _ := json.Marshal(b.tree)
		assert.Equal(t, string(before), string(after), "nothing is changed")
	})
}

// Property: the places of a tree of two levels are exactly the matched and the unmatched ones.
func TestPlacesAreMatchedOrTold(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	letters := []string{"a", "b", "c", "a.b", "x/y"}
	for range 2000 {
		b := bodies{tree: map[string]any{}}
		want, matched := map[string]bool{}, map[place]bool{}
		for range random.IntN(6) {
			component, object := letters[random.IntN(len(letters))], letters[random.IntN(len(letters))]
			objects, _ := b.tree[component].(map[string]any)
			if objects == nil {
				objects = map[string]any{}
				b.tree[component] = objects
			}
			if _, there := objects[object]; there {
				continue
			}
			objects[object] = []any{"x"}
			if random.IntN(2) == 0 {
				_, at := b.find(component, object)
				require.Len(t, at, 1)
				matched[at[0]] = true
			} else {
				want[component+"."+object] = true
			}
		}
		assert.Equal(t, sorted(want), b.unmatched(matched), "%v", b.tree)
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2020-01-02T03:04:05Z":             "2020-01-02T03:04:05Z",
		"2020-01-02T03:04:05.25+02:00":     "2020-01-02T01:04:05.25Z",
		"2020-01-02T03:04:05":              "2020-01-02T03:04:05Z",
		"2020-01-02T03:04:05.123456":       "2020-01-02T03:04:05.123456Z",
		"2020-01-02T03:04:05.123456+00:00": "2020-01-02T03:04:05.123456Z",
		"2020-01-02":                       "",
		"soon":                             "",
		"":                                 "",
	} {
		at, ok := entry{Timestamp: text}.time()
		assert.Equal(t, want != "", ok, text)
		if ok {
			assert.Equal(t, want, timestamp(at), text)
		}
	}
}

// An object is rendered and matched in one step: between two renderings a patch never matches less than before.
func TestBoardInTheMiddleOfARendering(t *testing.T) {
	t.Parallel()
	var b board
	patch := &TemporaryPatch{}
	patch.UID, patch.Generation = "u", 1
	content := bodies{list: []body{{component: "c", object: "o", content: map[string]any{"a": 1}}}}
	b.begin(patch, content).note("c", "o", []place{placeOf("c", "o")}, nil)
	second := b.begin(patch, content)
	for _, step := range []func(){
		func() {},
		func() { second.note("before", "x", nil, nil) },
		func() { second.note("c", "o", []place{placeOf("c", "o")}, nil) },
	} {
		step()
		known, ok := b.look("u", 1)
		assert.True(t, ok)
		assert.Equal(t, []string{"c.o"}, known.matched)
		assert.Empty(t, known.unmatched)
	}
}

// Reports of two renderings at once don't get mixed up with the race detector looking on.
func TestBoardConcurrently(t *testing.T) {
	t.Parallel()
	var b board
	patch := &TemporaryPatch{}
	patch.UID, patch.Generation = "u", 1
	content := bodies{list: []body{{component: "c", object: "o", content: map[string]any{"a": 1}}}}
	done := make(chan struct{})
	for range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 100 {
				r := b.begin(patch, content)
				r.note("c", "o", []place{placeOf("c", "o")}, nil)
				b.await("u", 1, true, time.Unix(1, 0))
				b.waiting("u")
			}
		}()
	}
	for range 8 {
		<-done
	}
	known, ok := b.look("u", 1)
	assert.True(t, ok)
	assert.Equal(t, []string{"c.o"}, known.matched)
	b.forget("u")
	_, ok = b.look("u", 1)
	assert.False(t, ok)
}

func TestFind(t *testing.T) {
	t.Parallel()
	var tree map[string]any
	require.NoError(t, json.Unmarshal([]byte(`{"web":{"deployment":{"spec":{"replicas":2}},"empty":{},"none":null,"ops":[],"list":[1]},
		"a":{"b":{"c":{"x":1}}},"text":"t","lists":[{"web":1}]}`), &tree))
	for name, row := range map[string]struct {
		component, object, want string
	}{
		"smp 3: each dot is one level":               {"web", "deployment", `{"spec":{"replicas":2}}`},
		"smp 3: an absent level":                     {"db", "deployment", ``},
		"smp 3: an absent last level":                {"web", "service", ``},
		"smp 3: no object before all parts are used": {"text", "deployment", ``},
		"smp 3: an empty object is no patch":         {"web", "empty", ``},
		"smp 3: null is no patch":                    {"web", "none", ``},
		"smp 3: an empty list is no patch":           {"web", "ops", ``},
		"smp 3: a list may be the patch":             {"web", "list", `[1]`},
		"smp 4: extra dots address deeper levels":    {"a.b", "c", `{"x":1}`},
		"smp 4: extra dots of the object do too":     {"a", "b.c", `{"x":1}`},
		"smp 3: W3 a list on the way leads nowhere":  {"lists", "web", ``},
		"an empty name":                              {"", "", ``},
		"an empty part":                              {"web.", "deployment", ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, at := bodies{tree: tree}.find(row.component, row.object)
			if row.want == "" {
				assert.Empty(t, found)
				assert.Empty(t, at)
				return
			}
			require.Len(t, found, 1)
			got, err := json.Marshal(found[0])
			require.NoError(t, err)
			assert.JSONEq(t, row.want, string(got))
			assert.Equal(t, []string{row.component + "." + row.object}, []string{at[0].String()})
		})
	}
	found, _ := bodies{}.find("web", "deployment")
	assert.Empty(t, found)
}
