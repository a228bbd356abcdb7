package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// updating is without faults, and updates the whole object instead of patching it.
func updating(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	size, _, _ := unstructured.NestedInt64(resource.Object, "spec", "size")
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	if err == nil && till == nil {
		return m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: till}, data: {size: '%d'}}", size)
	}
	if err != nil || till.Object["data"].(map[string]any)["size"] == fmt.Sprint(size) {
		return err
	}
	till = till.DeepCopy()
	till.Object["data"] = map[string]any{"size": fmt.Sprint(size)}
	_, err = m.port.Update(ctx, till, deploy.UpdateOptions{FieldManager: "manual"})
	return err
}

// parallel has two components that don't wait for each other.
func parallel(_ *shop, s *reconcile.Session) error {
	s.Add("door", door(s, sign(s)))
	s.Add("till", object(till))
	return nil
}

// actsOf returns the acts that an exploration may choose from, each with one choice, and the lessons they are about.
func actsOf(t *testing.T, e *explorer) map[act]choice {
	t.Helper()
	lives, err := e.lives()
	require.NoError(t, err)
	found := map[act]choice{}
	for _, l := range lives {
		known, err := e.learn(l)
		require.NoError(t, err)
		for _, c := range e.possible(known.trace, 0) {
			if _, earlier := found[c.act]; earlier {
				continue
			}
			found[c.act] = c
			tr := e.follow(known, []armed{c.arm(known.chapters[c.chapter-1])}, false)
			assert.Nil(t, known.judge(tr), "%s of %s", c, l)
			assert.NotEmpty(t, tr.disturbances[0].tell())
		}
	}
	return found
}

func TestActs(t *testing.T) {
	o, err := newOptions([]Option{Definitions("testdata/crd"), Samples("testdata/samples")})
	require.NoError(t, err)
	found := actsOf(t, explorerOf(t, of(parallel), o, startSessions))
	for a, c := range actsOf(t, explorerOf(t, manually(updating), o, startDriven)) {
		found[a] = c
	}
	found[overlap] = overlapOf(t)
	for _, a := range acts {
		t.Run("explore 11: it is tried, and does no harm to a sound operator: "+string(a), func(t *testing.T) {
			assert.Contains(t, found, a)
			p, err := parsePlan(found[a].String())
			require.NoError(t, err)
			assert.Equal(t, plan{found[a]}, p)
		})
	}
}

func TestOrders(t *testing.T) {
	seen := map[string]bool{}
	looking := func(c *shop, s *reconcile.Session) error {
		for _, name := range []string{"a", "b", "c"} {
			s.Add(name, object("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}}", name))
		}
		return nil
	}
	o, err := newOptions([]Option{Definitions("testdata/crd"), Samples("testdata/samples")})
	require.NoError(t, err)
	e := explorerOf(t, of(looking), o, startSessions)
	lives, err := e.lives()
	require.NoError(t, err)
	known, err := e.learn(lives[0])
	require.NoError(t, err)
	for _, c := range e.possible(known.trace, 0) {
		if c.chapter > 1 || c.act != reverse {
			continue
		}
		tr := e.follow(known, []armed{c.arm(known.chapters[c.chapter-1])}, false)
		assert.Nil(t, known.judge(tr))
		var order []string
		for _, call := range writes(tr.chapters[0].calls) {
			order = append(order, call.Ref.Name)
		}
		seen[strings.Join(order, " ")] = true
	}
	t.Run("explore 14: components go on in other orders", func(t *testing.T) {
		assert.Contains(t, seen, "c b a tea", "%v", seen)
		assert.GreaterOrEqual(t, len(seen), 3, "%v", seen)
	})
}

func TestEqualStates(t *testing.T) {
	o, err := newOptions([]Option{Definitions("testdata/crd"), Samples("testdata/samples")})
	require.NoError(t, err)
	e := explorerOf(t, manually(careful), o, startDriven)
	lives, err := e.lives()
	require.NoError(t, err)
	known, err := e.learn(lives[0])
	require.NoError(t, err)
	var equal []string
	for _, c := range e.possible(known.trace, 0) {
		if c.act.kills() && e.follow(known, []armed{c.arm(known.chapters[c.chapter-1])}, true).equal {
			equal = append(equal, c.String())
		}
	}
	t.Run("explore 16: what goes on as before isn't followed again", func(t *testing.T) {
		assert.Contains(t, equal, "kill-before@1.4", "the till is there, as when it was killed after 1.2")
		assert.NotContains(t, equal, "kill-after@1.2")
	})
}

// parsed returns an object with whole numbers, as a cluster does.
func parsed(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	content, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	obj := &unstructured.Unstructured{}
	require.NoError(t, utiljson.Unmarshal(content, &obj.Object))
	return obj
}

func FuzzPlan(f *testing.F) {
	f.Add("kill-after@1.2")
	f.Add("hurry@1.2,restart@2.0,reverse@3.1")
	f.Add("take@,@1.1")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePlan(text)
		if err != nil {
			return
		}
		if p.String() != text || slices.ContainsFunc(p, func(c choice) bool { return !c.valid() }) {
			t.Fatalf("%q became %q", text, p)
		}
	})
}

// jammed fails with a size other than 2, and forever after that.
func jammed(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	size, _, _ := unstructured.NestedInt64(resource.Object, "spec", "size")
	if size != 2 {
		m.kept["jammed"] = "yes"
	}
	if m.kept["jammed"] != "" {
		return errors.New("jammed")
	}
	return careful(ctx, m, resource)
}

// picky fails with any size but 2.
func picky(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	if size, _, _ := unstructured.NestedInt64(resource.Object, "spec", "size"); size != 2 {
		return errors.New("only 2")
	}
	return careful(ctx, m, resource)
}

func TestStuck(t *testing.T) {
	t.Run("explore 18: an operator that refuses an edit has to recover from it", func(t *testing.T) {
		r := explored(t, manually(jammed), startDriven, Findings(1))
		require.NotEmpty(t, r.findings)
		assert.Contains(t, r.findings[0].story(), "a reconcile fails though the cause of its failure is gone")
	})
	t.Run("explore 18: it may refuse one", func(t *testing.T) {
		r := explored(t, manually(picky), startDriven, States(400))
		assert.Empty(t, r.findings, stories(r))
	})
}

func TestFingerprint(t *testing.T) {
	owner := parsed(t, "{kind: Shop, metadata: {name: tea, uid: 00000000-0000-4000-8000-000000000001, resourceVersion: '1'}, status: {at: '2030-01-01T00:00:00Z'}}")
	child := func(uid, manager string) []*unstructured.Unstructured {
		obj := parsed(t, "{kind: ConfigMap, metadata: {name: till, uid: 00000000-0000-4000-8000-000000000009, ownerReferences: [{kind: Shop, name: tea, uid: "+uid+"}]}, data: {a: b}}")
		manage(t, obj, manager)
		return []*unstructured.Unstructured{owner, obj}
	}
	present := fingerprint(child("00000000-0000-4000-8000-000000000001", "operator"), mask{})
	later := parsed(t, "{kind: Shop, metadata: {name: tea, uid: 00000000-0000-4000-8000-000000000002, resourceVersion: '7'}, status: {at: '2031-01-01T00:00:00Z'}}")
	again := child("00000000-0000-4000-8000-000000000002", "operator")
	again[0] = later
	for _, row := range []struct {
		reason  string
		objects []*unstructured.Unstructured
		same    bool
	}{
		{"times, versions and uids differ in each execution", again, true},
		{"an owner that is gone isn't a new one of its name", child("00000000-0000-4000-8000-000000000003", "operator"), false},
		{"a field of another manager is another state", child("00000000-0000-4000-8000-000000000001", "somebody"), false},
	} {
		t.Run("explore 16: "+row.reason, func(t *testing.T) { assert.Equal(t, row.same, present == fingerprint(row.objects, mask{})) })
	}
	assert.NotEqual(t, fingerprint(again, mask{}, 1), fingerprint(again, mask{}, 2))
}
