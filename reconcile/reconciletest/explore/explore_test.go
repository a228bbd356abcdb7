package explore

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

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
		"sessions":      func(t *testing.T) report { return explored(t, of(sound), startSessions, States(400)) },
		"another style": func(t *testing.T) report { return explored(t, manually(careful), startDriven, States(400)) },
	} {
		t.Run("explore 1: "+name, func(t *testing.T) {
			r := explore(t)
			assert.Empty(t, r.findings, stories(r))
			assert.Greater(t, r.disturbed, 20)
			t.Run("explore 8: it ends", func(t *testing.T) { assert.Less(t, r.visited, 500) })
		})
	}
}

func TestFaults(t *testing.T) {
	for _, row := range []struct {
		fault string
		r     func(t *testing.T) report
		says  []string
	}{
		{"explore 7: a name from the clock", sessions(func(_ *shop, s *reconcile.Session) error {
			s.Add("door", object("{apiVersion: v1, kind: ConfigMap, metadata: {name: door-%d}}", time.Now().Unix()/3600))
			return nil
		}), []string{"names of objects depend on the time"}},
		{"explore 9: a value from the clock", sessions(func(_ *shop, s *reconcile.Session) error {
			s.Add("door", door(s, time.Now().Format(time.StampNano)))
			return nil
		}), []string{"doesn't come to rest", "ConfigMap test/tea-door was changed 100 times"}},
		{"explore 3: a value is remembered in memory", sessions(func(c *shop, s *reconcile.Session) error {
			if c.kept[s.Name()] == "" {
				c.kept[s.Name()] = sign(s)
			}
			s.Add("door", door(s, c.kept[s.Name()]))
			return nil
		}), []string{"writes after a restart", "ConfigMap test/tea-door", `.data.sign: "tea" -> "teax"`}},
		{"explore 2: a crash between two writes makes a second child", driven(forgetful), []string{"killed after it has sent: create ConfigMap test/till-", "is there"}},
		{"explore 7: a crash makes another password", driven(careless), []string{"a generated value changes", "Secret test/key"}},
		{"explore 2: a failed request isn't sent again", driven(givingUp), []string{"another state", "answers 500: get ConfigMap test/till", "ConfigMap test/till isn't there"}},
		{"explore 10: a child that somebody deletes stays away", driven(blind), []string{"another state", "somebody deletes ConfigMap test/till", "ConfigMap test/till isn't there"}},
		{"explore 9: something is left", driven(untidy), []string{"what is deleted leaves nothing", "ConfigMap test/left is there"}},
		{"explore 9: it counts its reconciles", driven(restless), []string{"writes though nothing has changed", "configured Shop test/tea status"}},
		{"explore 9: it is Ready too early", driven(early), []string{"the status isn't true", "Shop.explore.operkit.dev test/tea is Ready, but Deployment test/till isn't"}},
		{"explore 6: an edit is ignored", driven(deaf), []string{"an edited resource has what a new one would have", "spec.size: 3", `ConfigMap test/till .data.size: "2" -> "3"`}},
	} {
		t.Run(row.fault, func(t *testing.T) {
			r := row.r(t)
			require.NotEmpty(t, r.findings, stories(r))
			story := r.findings[0].story()
			t.Logf("%s\n%s", r, story)
			for _, says := range row.says {
				assert.Contains(t, story, says)
			}
			t.Run("explore 4: it is told in 15 lines, and replayed", func(t *testing.T) {
				assert.LessOrEqual(t, strings.Count(story, "\n"), 14, story)
			})
		})
	}
}

func sessions(setup func(c *shop, s *reconcile.Session) error) func(t *testing.T) report {
	return func(t *testing.T) report { t.Helper(); return explored(t, of(setup), startSessions, Findings(1)) }
}

func driven(reconcile func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error) func(t *testing.T) report {
	return func(t *testing.T) report {
		t.Helper()
		return explored(t, manually(reconcile), startDriven, Findings(1))
	}
}

func TestLeaves(t *testing.T) {
	t.Run("explore 9: what holds data may stay", func(t *testing.T) {
		r := explored(t, manually(untidy), startDriven, States(60), Leaves("ConfigMap"))
		assert.Empty(t, r.findings, stories(r))
	})
}

func TestReplay(t *testing.T) {
	r := explored(t, manually(forgetful), startDriven, Findings(1))
	require.NotEmpty(t, r.findings)
	assert.Equal(t, `explore: the cluster ends in another state than without the disturbance
  1. create Shop.explore.operkit.dev tea
     the operator is killed after it has sent: create ConfigMap test/till-bbbbc
  => ConfigMap test/till-2 is there
  replay: explore.Replay("Shop.explore.operkit.dev tea | kill-after@1.2")`, r.findings[0].story(), "as the guide shows it")
	line := r.findings[0].replay()
	again := explored(t, manually(forgetful), startDriven, Replay(line))
	t.Run("explore 4: a replay shows one finding alone", func(t *testing.T) {
		require.Len(t, again.findings, 1)
		assert.Equal(t, r.findings[0].story(), again.findings[0].story())
		assert.Less(t, again.visited, r.visited)
	})
	for text, says := range map[string]string{
		"Shop test/nobody | fail@1.1":                             "no sample and no edit of it has this name",
		"Shop.explore.operkit.dev tea | fail@1":                   "isn't ACT@CHAPTER.REQUEST",
		"Shop.explore.operkit.dev tea | fail@1.0":                 "isn't ACT@CHAPTER.REQUEST",
		"Shop.explore.operkit.dev tea | take@0.1":                 "isn't ACT@CHAPTER.REQUEST",
		"Shop.explore.operkit.dev tea | kil-after@1.2":            "isn't ACT@CHAPTER.REQUEST",
		"Shop.explore.operkit.dev tea | kill-before@1.1,nonsense": "isn't ACT@CHAPTER.REQUEST",
	} {
		o, err := newOptions([]Option{Definitions("testdata/crd"), Samples("testdata/samples"), Replay(text)})
		require.NoError(t, err)
		_, err = explorerOf(t, manually(forgetful), o, startDriven).explore()
		assert.ErrorContains(t, err, says)
	}
}

func TestSameOnAnyMachine(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	first := stories(explored(t, manually(careless), startDriven, States(400)))
	runtime.GOMAXPROCS(4)
	second := stories(explored(t, manually(careless), startDriven, States(400)))
	t.Run("explore 5: the same findings, whatever the number of processors", func(t *testing.T) { assert.Equal(t, first, second) })
}
