package explore

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

var shopKind = schema.GroupVersionKind{Group: "explore.operkit.dev", Version: "v1", Kind: "Shop"}

// shop is a controller whose Setup is a function. It may remember things in kept, until the process ends.
type shop struct {
	kept  map[string]string
	setup func(c *shop, s *reconcile.Session) error
}

// Kind implements reconcile.Controller.
func (*shop) Kind() schema.GroupVersionKind { return shopKind }

// Setup implements reconcile.Controller.
func (c *shop) Setup(_ context.Context, s *reconcile.Session) error { return c.setup(c, s) }

// of returns a function that makes shops with a Setup.
func of(setup func(c *shop, s *reconcile.Session) error) func() *shop {
	return func() *shop { return &shop{map[string]string{}, setup} }
}

func door(s *reconcile.Session, sign string) map[string]any {
	return object("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s-door}, data: {sign: %q}}", s.Name(), sign)
}

func object(text string, args ...any) (content map[string]any) {
	if err := yaml.Unmarshal(fmt.Appendf(nil, text, args...), &content); err != nil {
		panic(err)
	}
	return content
}

func sign(s *reconcile.Session) string {
	sign, _, _ := unstructured.NestedString(s.Resource().Object, "spec", "sign")
	return sign
}

const till = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: till}, spec: {replicas: 1, selector: {matchLabels: {a: b}},
	template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}`

func sound(_ *shop, s *reconcile.Session) error {
	door := s.Add("door", door(s, sign(s)))
	s.Add("till", object(till)).After(door, reconcile.Ready)
	return nil
}

// explored explores and returns the report.
func explored[C controlling](t *testing.T, controller func() C, start starter[C], opts ...Option) report {
	t.Helper()
	o, err := newOptions(append([]Option{Definitions("testdata/crd"), Samples("testdata/samples")}, opts...))
	require.NoError(t, err)
	r, err := explorerOf(t, controller, o, start).explore()
	require.NoError(t, err)
	return r
}

func stories(r report) string {
	all := []string{r.String()}
	for _, f := range r.findings {
		all = append(all, f.story())
	}
	return strings.Join(all, "\n")
}

func TestSound(t *testing.T) {
	for name, explore := range map[string]func(t *testing.T) report{
		"sessions":      func(t *testing.T) report { return explored(t, of(sound), startSessions, States(650)) },
		"another style": func(t *testing.T) report { return explored(t, manually(careful), startDriven, States(400)) },
	} {
		t.Run("explore 1: "+name, func(t *testing.T) {
			r := explore(t)
			assert.Empty(t, r.findings, stories(r))
			assert.Greater(t, r.disturbed, 20)
			t.Run("explore 8: it ends", func(t *testing.T) { assert.Less(t, r.visited, 750) })
		})
	}
}

// retaining has a disk for each size so far.
func retaining(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	for i := range sizeOf(resource) {
		disk, err := m.get(ctx, "ConfigMap", fmt.Sprintf("disk-%d", i), resource)
		if err == nil && disk == nil {
			err = m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: disk-%d}}", i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func TestLeaves(t *testing.T) {
	const grown = "Shop.explore.operkit.dev tea with spec.size: 3"
	t.Run("explore 10: an object that may stay need not come back when it isn't needed any more", func(t *testing.T) {
		r := explored(t, manually(retaining), startDriven, Replay(grown+" | take@3.3"), Leaves("ConfigMap"))
		assert.Empty(t, r.findings, stories(r))
		r = explored(t, manually(retaining), startDriven, Replay(grown), Leaves("ConfigMap"))
		assert.Empty(t, r.findings, stories(r))
	})
	t.Run("explore 10: it comes back for a resource that was just created", func(t *testing.T) {
		r := explored(t, manually(blind), startDriven, Replay("Shop.explore.operkit.dev tea | take@1.1"), Leaves("ConfigMap"))
		assert.Len(t, r.findings, 1)
	})
	t.Run("explore 9: what holds data may stay", func(t *testing.T) {
		r := explored(t, manually(untidy), startDriven, Replay("Shop.explore.operkit.dev tea | "), Leaves("ConfigMap"))
		assert.Empty(t, r.findings, stories(r))
	})
}

func TestReplay(t *testing.T) {
	r := explored(t, manually(forgetful), startDriven, Findings(1))
	require.NotEmpty(t, r.findings)
	assert.Equal(t, `explore: the cluster ends in another state than without the disturbance
  1. create Shop.explore.operkit.dev tea
     the operator is killed after it has sent: create ConfigMap test/till-bbbbc
     created ConfigMap test/till-bbbbd
     configured Shop test/tea status
  => ConfigMap test/till-2 is there
  replay: explore.Replay("Shop.explore.operkit.dev tea | without spec.sign | kill-after@1.2")`, r.findings[0].story(), "as the guide shows it")
	line := r.findings[0].replay()
	again := explored(t, manually(forgetful), startDriven, Replay(line))
	t.Run("explore 4: a replay shows one finding alone", func(t *testing.T) {
		require.Len(t, again.findings, 1)
		assert.Equal(t, r.findings[0].story(), again.findings[0].story())
		assert.Less(t, again.visited, r.visited)
	})
	for text, says := range map[string]string{
		"Shop.explore.operkit.dev tea | kill-after@1.1":            "has no such request or object",
		"Shop.explore.operkit.dev tea | fail@1.99":                 "has no such request or object",
		"Shop.explore.operkit.dev tea | without spec.x | fail@1.1": "has no such field: copy the line from a finding",
		"Shop test/nobody | fail@1.1":                              "no sample and no edit of it has this name",
		"Shop.explore.operkit.dev tea | fail@1":                    "isn't ACT@CHAPTER.REQUEST",
		"Shop.explore.operkit.dev tea | fail@1.0":                  "isn't ACT@CHAPTER.REQUEST",
		"Shop.explore.operkit.dev tea | take@0.1":                  "isn't ACT@CHAPTER.REQUEST",
		"Shop.explore.operkit.dev tea | kil-after@1.2":             "isn't ACT@CHAPTER.REQUEST",
		"Shop.explore.operkit.dev tea | kill-before@1.1,nonsense":  "isn't ACT@CHAPTER.REQUEST",
	} {
		o, err := newOptions([]Option{Definitions("testdata/crd"), Samples("testdata/samples"), Replay(text)})
		require.NoError(t, err)
		_, err = explorerOf(t, manually(forgetful), o, startDriven).explore()
		assert.ErrorContains(t, err, says)
	}
}

func TestSameOnAnyMachine(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	explore := func() string {
		r := explored(t, manually(careless), startDriven, States(400))
		return stories(r) + r.summary()
	}
	first := explore()
	runtime.GOMAXPROCS(4)
	second := explore()
	t.Run("explore 5: the same findings, whatever the number of processors", func(t *testing.T) { assert.Equal(t, first, second) })
}
