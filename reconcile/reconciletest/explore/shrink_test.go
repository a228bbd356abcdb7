package explore

import (
	"context"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// explorerFor returns an explorer that hasn't begun, and its lives.
func explorerFor(t *testing.T, reconcile func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error, opts ...Option) (*explorer, []life) {
	t.Helper()
	o, err := newOptions(append([]Option{Definitions("testdata/crd"), Samples("testdata/samples")}, opts...))
	require.NoError(t, err)
	e := explorerOf(t, manually(reconcile), o, startDriven)
	lives, err := e.lives()
	require.NoError(t, err)
	return e, lives
}

// twice is a finding of forgetful with one disturbance too many, whose first one moves the requests after it.
func twice(t *testing.T) (*explorer, *finding) {
	t.Helper()
	e, lives := explorerFor(t, forgetful)
	known, err := e.learn(lives[0])
	require.NoError(t, err)
	tr, err := e.attempt(known, plan{{1, 1, fail}, {1, 3, killAfter}, {2, 0, restart}})
	require.NoError(t, err)
	f := known.judge(tr)
	require.NotNil(t, f)
	return e, f
}

func TestShrink(t *testing.T) {
	t.Run("explore 40: what isn't needed is left out: disturbances, fields", func(t *testing.T) {
		e, f := twice(t)
		assert.Equal(t, "Shop.explore.operkit.dev tea | fail@1.1,kill-after@1.3,restart@2.0", f.replay())
		visited := e.visited
		assert.Equal(t, "Shop.explore.operkit.dev tea | without spec.sign | kill-after@1.2", e.shrink(f, executions).replay())
		assert.Equal(t, visited, e.visited, "it doesn't count as explored")
	})
	t.Run("explore 40: chapters are left out", func(t *testing.T) {
		parts := []string{"an edited resource has what a new one would have"}
		r := explored(t, manually(deaf), startDriven, Findings(9), until(parts))
		found := r.findings[len(r.findings)-1]
		assert.Equal(t, `explore: an edited resource has what a new one would have, but the new one differs
  1. create Shop.explore.operkit.dev tea
  2. edit Shop.explore.operkit.dev tea: spec.size: 3
  3. delete Shop.explore.operkit.dev tea
  4. create Shop.explore.operkit.dev tea with spec.size: 3
  => ConfigMap test/till .data.size: "2" -> "3"
  replay: explore.Replay("Shop.explore.operkit.dev tea with spec.size: 3 | without chapter 4,chapter 3,spec.sign")`, found.story())
		t.Run("explore 41: the replay is about the smaller life", func(t *testing.T) {
			again := explored(t, manually(deaf), startDriven, Replay(found.replay()))
			require.Len(t, again.findings, 1)
			assert.Equal(t, found.story(), again.findings[0].story())
		})
	})
	t.Run("explore 40: it spends a number of executions at most", func(t *testing.T) {
		for _, most := range []int{0, 1, 5} {
			e, f := twice(t)
			started, start := 0, e.start
			e.start = func(trial *trial, reborn func(), more ...reconciletest.Option) *reconciletest.Harness {
				started++
				return start(trial, reborn, more...)
			}
			smaller := e.shrink(f, most)
			assert.LessOrEqual(t, started, most)
			assert.True(t, smaller.same(f))
		}
	})
}

func TestCuts(t *testing.T) {
	_, lives := explorerFor(t, careful)
	whole := lives[0]
	whole.resource = &unstructured.Unstructured{Object: object(`{kind: Shop, metadata: {name: tea, labels: {a: b}},
		spec: {doors: [{wide: true}, {wide: false}], "odd/name": 1, till: {size: 1}}}`)}
	t.Run("explore 40: each field below spec and each item is left out", func(t *testing.T) {
		assert.Equal(t, []string{
			"metadata.labels", "spec.doors", "spec.doors[1]", "spec.doors[1].wide", "spec.doors[0]", "spec.doors[0].wide",
			"spec.till", "spec.till.size",
		}, cutsOf(whole.resource))
		for _, cut := range cutsOf(whole.resource) {
			smaller, err := cutList{cut}.apply(whole)
			require.NoError(t, err, cut)
			assert.NotEqual(t, whole.resource.Object, smaller.resource.Object, cut)
		}
		smaller, err := cutList{"spec.doors[1]", "spec.doors[0].wide", "spec.till", "chapter 1"}.apply(whole)
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"doors": []any{map[string]any{}}, "odd/name": float64(1)}, smaller.resource.Object["spec"])
		assert.Equal(t, "delete Shop tea", smaller.chapters[0].name)
		assert.Equal(t, []pair{{-1, 0, "what is deleted leaves nothing", false}}, smaller.equal)
		smaller, err = cutList{"chapter 2"}.apply(whole)
		require.NoError(t, err)
		assert.Empty(t, smaller.equal, "the pair was with that chapter")
	})
	t.Run("explore 41: a cut that doesn't fit is an error", func(t *testing.T) {
		for word, why := range map[string]string{
			"spec.doors[2]":    "there are two",
			"spec.doors.x":     "it is a list",
			"spec.windows":     "there is none",
			"spec.odd/name":    "a path can't name it",
			"chapter 3":        "there are two",
			"chapter 0":        "they are counted from 1",
			"chapter one":      "it isn't a number",
			"spec.till[0]":     "it is no list",
			"spec.till.size.x": "it is a number",
		} {
			_, err := cutList{word}.apply(whole)
			assert.ErrorContains(t, err, word, why)
		}
	})
}

func TestScript(t *testing.T) {
	t.Run("explore 41: a line is read as it was written", func(t *testing.T) {
		for _, row := range []struct {
			line, why string
			want      script
		}{
			{"Shop tea", "nothing disturbs it", script{name: "Shop tea"}},
			{"Shop tea | ", "as older versions wrote it", script{name: "Shop tea"}},
			{"Shop tea | fail@1.2", "one disturbance", script{name: "Shop tea", plan: plan{{1, 2, fail}}}},
			{"Shop tea | without spec.a,chapter 2", "a smaller life", script{name: "Shop tea", cuts: cutList{"spec.a", "chapter 2"}}},
			{"Shop tea | without spec.a | fail@1.2", "both", script{"Shop tea", cutList{"spec.a"}, plan{{1, 2, fail}}}},
			{`Shop tea with spec.sign: "a | b@c"`, "the separator stands in a value", script{name: `Shop tea with spec.sign: "a | b@c"`}},
		} {
			got, err := parseScript(row.line)
			require.NoError(t, err, row.why)
			assert.Equal(t, row.want, got, row.why)
			assert.Equal(t, strings.TrimSuffix(row.line, " | "), got.String(), row.why)
		}
	})
}

func TestStory(t *testing.T) {
	t.Run("explore 42: the writes around a disturbance and the component are told", func(t *testing.T) {
		r := explored(t, of(func(c *shop, s *reconcile.Session) error {
			if c.kept[s.Name()] == "" {
				c.kept[s.Name()] = sign(s)
			}
			s.Add("door", door(s, c.kept[s.Name()]))
			return nil
		}), startSessions, Replay(`Shop.explore.operkit.dev tea with spec.sign: "teax" | kill-after@2.1`))
		require.Len(t, r.findings, 1)
		assert.Contains(t, r.findings[0].story(), `
     the operator is killed after it has sent: patch Shop test/tea status
     configured ConfigMap test/tea-door
  => ConfigMap test/tea-door .data.sign: "tea" -> "teax" (component door)
`)
	})
	t.Run("explore 42: a long story is cut to 15 lines, and keeps its end", func(t *testing.T) {
		_, f := twice(t)
		for range 12 {
			f.details = append(f.details, "ConfigMap test/other isn't there")
		}
		story := f.story()
		assert.LessOrEqual(t, strings.Count(story, "\n"), 14, story)
		assert.Contains(t, story, `
  1. create Shop.explore.operkit.dev tea
     the API server answers 500: get Shop test/tea
     the operator is killed after it has sent: create ConfigMap test/till-bbbbc
     created ConfigMap test/till-bbbbd
     configured Shop test/tea status
`)
		assert.Contains(t, story, "\n  and 8 more\n  replay: ")
	})
}
