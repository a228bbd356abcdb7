package operator_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// children is a style without sessions: a function returns the children of a parent, which are applied; those that it
// no longer returns are deleted.
type children struct {
	env watch.Env
	// of are the children of a parent, and kinds the kinds that they may have.
	of    func(parent *unstructured.Unstructured) []*unstructured.Unstructured
	kinds []schema.GroupVersionKind

	mu sync.Mutex
	// reconciled are the parents that exist, created those whose creation was observed.
	reconciled map[deploy.Ref]bool
	created    []string
}

func (c *children) Sources() (sources source.Sources) {
	for _, kind := range c.kinds {
		sources.Owned = append(sources.Owned, source.Owned{Kind: kind})
	}
	return sources
}

func (c *children) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	parent, err := c.env.Manager.View().Get(ctx, req.Key)
	if err != nil || parent == nil {
		return request.Result{}, err
	}
	manager, err := c.env.Manager.With(deploy.OwnedBy(parent), deploy.RetryFor(0))
	if err != nil {
		return request.Result{}, err
	}
	wanted := map[deploy.Ref]bool{}
	objects := c.of(parent)
	for _, child := range objects {
		wanted[deploy.RefOf(child)] = true
	}
	if _, err := manager.Apply(ctx, objects); err != nil {
		return request.Result{}, err
	}
	surplus, err := manager.Owned(ctx, c.kinds, func(ref deploy.Ref) bool { return wanted[ref] })
	if err == nil {
		_, err = manager.Delete(ctx, surplus)
	}
	if err != nil {
		return request.Result{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reconciled[req.Key] = true
	return request.Result{}, nil
}

func (c *children) Observe(event deploy.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if event.Type == deploy.Added {
		c.created = append(c.created, event.New.GetName())
	}
}

func (c *children) Forget(key deploy.Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.reconciled, key)
}

// Tally counts the parents for the metrics.
func (c *children) Tally() standing.Tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	return standing.Tally{Resources: map[standing.Standing]int{standing.Settled: len(c.reconciled)}}
}

func (c *children) observed() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.created...)
}

// foreign is an operator of gadgets by sessions, and of gears by children. made gets the reconciler of gears.
func foreign(made func(*children)) *operator.Operator {
	op := operator.New("gadget-operator")
	op.Control(settings{gadgets})
	op.Drive(gears, func(_ context.Context, env operator.Env) (watch.Reconciler, error) {
		c := &children{env: env.Env, kinds: []schema.GroupVersionKind{configMaps}, reconciled: map[deploy.Ref]bool{}}
		c.of = func(parent *unstructured.Unstructured) []*unstructured.Unstructured {
			child := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"mode": "geared"}}}
			child.SetGroupVersionKind(configMaps)
			child.SetNamespace(parent.GetNamespace())
			child.SetName(parent.GetName())
			if parent.GetLabels()["empty"] != "" {
				return nil
			}
			return []*unstructured.Unstructured{child}
		}
		made(c)
		return c, nil
	})
	return op
}

func TestForeignStyle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	var gearing *children
	r := w.run("gadget-operator", foreign(func(c *children) { gearing = c }), w.replica("operator"), "--namespace", w.Namespace,
		"--health.address", "127.0.0.1:0", "--metrics.address", "127.0.0.1:0", "--watch.filter", "annotation")
	w.resource(gadgets, "one")
	w.resource(gears, "two")
	w.eventually("both styles work", func() bool { return w.mode("one") == "old" && w.mode("two") == "geared" })
	served := func(key string) string {
		for _, found := range servedAt.FindAllStringSubmatch(r.log.String(), -1) {
			if found[1] == key {
				return found[2]
			}
		}
		return ""
	}
	t.Run("probes and metrics", func(t *testing.T) {
		w.eventually("it is ready", func() bool {
			code, _ := ask(t, served("health.address"), "/readyz")
			return code == http.StatusOK
		})
		_, page := ask(t, served("metrics.address"), "/metrics")
		for _, line := range []string{
			`operkit_resources{controller="Gear",standing="settled"} 1`, `operkit_resources{controller="Gadget",standing="settled"} 1`,
			`controller_runtime_reconcile_total{controller="Gear",result="success"} `,
		} {
			assert.Contains(t, page, "\n"+line)
		}
	})
	t.Run("the filter of the settings, which hides no method", func(t *testing.T) {
		assert.Equal(t, []string{"two"}, gearing.observed())
		w.change(w.ref(gears, "two"), `{"metadata":{"labels":{"empty":"yes"}}}`) // a label doesn't count
		w.change(w.ref(configMaps, "two"), `{"data":{"mode":"edited"}}`)
		w.eventually("the child is gone, since the parent has no children by now", func() bool { return w.mode("two") == "" })
		w.change(w.ref(gears, "two"), `{"metadata":{"labels":{"empty":null},"annotations":{"example.dev/a":"b"}}}`)
		w.eventually("an annotation counts", func() bool { return w.mode("two") == "geared" })
	})
	t.Run("commands go by what a style can do", func(t *testing.T) {
		someone := w.person("someone", "get", "list", "patch", "create")
		says := func(args ...string) (code int, stdout, stderr string) {
			var out, log bytes.Buffer
			code = foreign(nil).Execute(t.Context(), append(args, "--kubeconfig", someone.kubeconfig), &out, &log)
			return code, out.String(), log.String()
		}
		code, out, log := says("status", "-n", w.Namespace)
		assert.Zero(t, code, log)
		assert.Regexp(t, `(?m)^Gadget +one +True`, out)
		assert.Regexp(t, `(?m)^Gear +two +Unknown`, out)
		code, out, log = says("trigger", "gear/two", "-n", w.Namespace)
		assert.Zero(t, code, log)
		assert.Equal(t, "Gear "+w.Namespace+"/two triggered\n", out)
		for _, command := range []string{"graph", "reconcile"} {
			code, _, log = says(command, "gear/two", "-n", w.Namespace)
			assert.Equal(t, 2, code)
			assert.Contains(t, log, "a Gear has no components, which this command needs: choose a resource of operator.operkit.dev/v1 Gadget")
		}
		code, _, log = says("render", "-f", file(t, "{apiVersion: operator.operkit.dev/v1, kind: Gear, metadata: {name: two}}"))
		assert.Equal(t, 2, code)
		assert.Contains(t, log, "a Gear has no components")
		_, _, log = says("diff", "-n", w.Namespace)
		assert.Equal(t, 1, strings.Count(log, "Gear is left out: it has no components\n"), log)
	})
	t.Run("what it forgets", func(t *testing.T) {
		w.delete(gears, "two")
		w.eventually("the metrics show it", func() bool { return gearing.Tally().Resources[standing.Settled] == 0 })
	})
}

func TestMistakesOfDrive(t *testing.T) {
	t.Parallel()
	for want, drive := range map[string]func(op *operator.Operator){
		"reconciler of Gear: nil function": func(op *operator.Operator) { op.Drive(gears, nil) },
		"needs a version and a kind": func(op *operator.Operator) {
			op.Drive(schema.GroupVersionKind{Group: "x"}, func(context.Context, operator.Env) (watch.Reconciler, error) { return nil, nil })
		},
	} {
		op := operator.New("gadget-operator")
		drive(op)
		var log bytes.Buffer
		require.NotZero(t, op.Execute(t.Context(), []string{"run"}, &log, &log))
		assert.Contains(t, log.String(), want)
	}
}
