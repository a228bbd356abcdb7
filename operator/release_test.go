package operator_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kinds"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// tidy is a controller of components with something to clean up.
type tidy struct{ settings }

func (tidy) Finalize(context.Context, *reconcile.Session) error { return nil }

// ringing is a reconciler of another style, with names of its own for its finalizer: what it has now, and what it had
// in an earlier release.
type ringing struct {
	watch.Reconciler
	names []string
}

func (r ringing) Finalizers() []string { return r.names }

func newRinging(_ context.Context, env watch.Env) (watch.Reconciler, error) {
	if env.Watcher == nil || env.Patches() != nil {
		return nil, errors.New("the environment isn't complete")
	}
	return ringing{names: []string{env.Manager.KeyDomain() + "/" + env.Manager.FieldManager(), "bells.example.dev/ring"}}, nil
}

// leaving is an operator of three styles that is to be uninstalled.
func leaving() *operator.Operator {
	op := operator.New("gadget-operator")
	op.Control(tidy{settings{gadgets}})
	op.Control(tidy{settings{gears}}, reconcile.FinalizerName("gears.example.dev/tidy"))
	op.Drive(watch.NewController(bells, newRinging))
	return op
}

// finalized makes a resource with finalizers, named or deleted already.
func (w *world) finalized(kind schema.GroupVersionKind, name string, deleted bool, finalizers ...string) {
	w.t.Helper()
	w.create("{apiVersion: " + kind.GroupVersion().String() + ", kind: " + kind.Kind + ", metadata: {name: " + name +
		", finalizers: [" + strings.Join(finalizers, ", ") + "]}}")
	if deleted {
		w.delete(kind, name)
	}
}

func (w *world) finalizers(kind schema.GroupVersionKind, name string) []string {
	w.t.Helper()
	obj := w.get(kind, name)
	if obj == nil {
		return nil
	}
	return obj.GetFinalizers()
}

const (
	gadgetsOwn, oper8sOwn = "gadget.operator.operkit.dev/finalizer", "finalizers.gadget.operator.operkit.dev"
	others                = "example.dev/others"
)

// left makes resources that an operator which is gone has left behind, and one that it hasn't touched.
func (w *world) left() {
	w.t.Helper()
	w.finalized(gadgets, "one", false, gadgetsOwn, others)
	w.finalized(gadgets, "two", true, oper8sOwn)
	w.finalized(gadgets, "free", false, others)
	w.finalized(gears, "three", true, "gears.example.dev/tidy", "gear.operator.operkit.dev/finalizer")
	w.finalized(bells, "four", true, "bells.example.dev/ring", "operkit.dev/gadget-operator")
	w.create(patchOf("ours", gadgets.Kind))
	w.create(patchOf("theirs", "Widget"))
}

func patchOf(name, kind string) string {
	return "{apiVersion: operkit.dev/v1, kind: TemporaryPatch, metadata: {name: " + name + ", finalizers: [temporarypatch.operkit.dev/finalizer]}, " +
		"spec: {apiVersion: operator.operkit.dev/v1, kind: " + kind + ", name: one, patchType: strategic, patch: {store: {}}}}"
}

// looking are the rights to find out whether the operator runs, and releasing those to remove finalizers.
var (
	looking = []rbacv1.PolicyRule{
		{Verbs: []string{"list"}, APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}},
		{Verbs: []string{"list"}, APIGroups: []string{"apps"}, Resources: []string{"deployments"}},
	}
	reading   = rbacv1.PolicyRule{Verbs: []string{"get", "list"}, APIGroups: []string{"operator.operkit.dev", "operkit.dev"}, Resources: []string{"*"}}
	releasing = rbacv1.PolicyRule{Verbs: []string{"patch"}, APIGroups: []string{"operator.operkit.dev", "operkit.dev"}, Resources: []string{"*"}}
)

func TestRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	w.left()
	someone := w.User(t, "someone", envtest.InNamespace(append(looking, reading, releasing)...))
	says := func(by *envtest.User, args ...string) (int, string) {
		t.Helper()
		var out bytes.Buffer
		code := leaving().Execute(t.Context(), append(args, "-n", w.Namespace, "--leader-election.namespace", w.Namespace, "--kubeconfig", w.Kubeconfig(t, by)), &out, &out)
		return code, strings.ReplaceAll(out.String(), w.Namespace, "NAMESPACE")
	}
	const table = `KIND             NAME              DELETED   FINALIZERS
Gadget           NAMESPACE/one     no        gadget.operator.operkit.dev/finalizer
Gadget           NAMESPACE/two     yes       finalizers.gadget.operator.operkit.dev
Gear             NAMESPACE/three   yes       gears.example.dev/tidy
Bell             NAMESPACE/four    yes       bells.example.dev/ring operkit.dev/gadget-operator
TemporaryPatch   NAMESPACE/ours    no        temporarypatch.operkit.dev/finalizer
`
	squeezed := func(text string) string { // a namespace's name has another length each time
		var lines []string
		for line := range strings.Lines(text) {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		return strings.Join(lines, "\n")
	}
	t.Run("release 1: a dry run lists the own finalizers of each style, and changes nothing", func(t *testing.T) {
		mark := w.Mark(t)
		code, out := says(someone, "release", "--all", "--dry-run")
		assert.Zero(t, code)
		assert.Equal(t, squeezed(table+"nothing was changed (dry run)\n"), squeezed(out))
		assert.Empty(t, w.CallsSince(t, mark, someone).Writes())
		_, out = says(someone, "release", "gear", "--all", "--dry-run")
		assert.Equal(t, 1, strings.Count(out, "NAMESPACE/"), "one kind: %s", out)
		_, out = says(someone, "release", "-l", "tier=none", "--dry-run")
		assert.Equal(t, "nothing to release: no resource has a finalizer of this operator\n", out)
	})
	t.Run("release 1, commands 3: it fits 80 columns", func(t *testing.T) {
		text := inTerminal(t, 80, 24, nil, "release", "--all", "--dry-run", "-n", w.Namespace, "--kubeconfig", w.Kubeconfig(t, someone)).text(t)
		assert.Contains(t, text, "KIND")
		assert.Contains(t, text, "warning: it isn't known whether the operator runs", "in all namespaces")
		for line := range strings.Lines(text) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 80, line)
		}
	})
	t.Run("release 2: without an answer nothing is released", func(t *testing.T) {
		code, out := says(someone, "release", "--all")
		assert.Equal(t, 2, code)
		assert.Contains(t, out, "nothing was released: answer y, or give --yes")
		assert.Equal(t, []string{gadgetsOwn, others}, w.finalizers(gadgets, "one"))
	})
	t.Run("release 3: whoever can't release is told so, with an exit code", func(t *testing.T) {
		reader := w.User(t, "reader", envtest.InNamespace(reading))
		code, out := says(reader, "release", "gadget/one", "gear/three", "--yes")
		assert.Equal(t, 1, code)
		assert.Contains(t, out, "Gadget NAMESPACE/one: gadgets.operator.operkit.dev: not allowed to patch")
		assert.Contains(t, out, "Gear NAMESPACE/three: gears.operator.operkit.dev: not allowed to patch", "the next one is tried, too")
		assert.Contains(t, out, "warning: it isn't known whether the operator runs")
		assert.Contains(t, out, "warning: it isn't known whether the operator is deployed")
	})
	t.Run("release 4: it warns while the operator runs", func(t *testing.T) {
		now := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
		w.create("{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: gadget-operator}, spec: {holderIdentity: a-pod, leaseDurationSeconds: 15, renewTime: " + now + "}}")
		w.create(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: gadget-operator}, spec: {selector: {matchLabels: {a: b}},
			template: {metadata: {labels: {a: b}}, spec: {containers: [{name: operator, image: operator}]}}}}`)
		code, out := says(someone, "release", "--all", "--dry-run")
		assert.Zero(t, code)
		assert.Contains(t, out, "warning: the operator runs: Lease NAMESPACE/gadget-operator is held by a-pod: stop it, because it adds its finalizers again\n")
		assert.Contains(t, out, "warning: Deployment NAMESPACE/gadget-operator may run the operator: stop it by 'kubectl scale deployment gadget-operator -n NAMESPACE --replicas=0'\n")
		w.delete(leases, "gadget-operator")
		w.delete(deployments, "gadget-operator")
	})
	t.Run("release 5: finalizers of others stay", func(t *testing.T) {
		code, out := says(someone, "release", "gadget", "one", "--yes")
		assert.Zero(t, code, out)
		assert.Contains(t, out, "Gadget NAMESPACE/one released, still held by example.dev/others\n")
		assert.Equal(t, []string{others}, w.finalizers(gadgets, "one"))
	})
	t.Run("release 1, 6: all kinds, and the patches for them", func(t *testing.T) {
		code, out := says(someone, "release", "--all", "--yes")
		assert.Zero(t, code, out)
		assert.Contains(t, out, "Gear NAMESPACE/three released, still held by gear.operator.operkit.dev/finalizer\n", "which is the name by default, but not its own")
		assert.Nil(t, w.get(gadgets, "two"), "what was deleted is gone")
		assert.Nil(t, w.get(bells, "four"))
		assert.Empty(t, w.finalizers(temporarypatch.DefaultKind, "ours"))
		assert.NotEmpty(t, w.finalizers(temporarypatch.DefaultKind, "theirs"), "another operator serves it")
		assert.Equal(t, []string{others}, w.finalizers(gadgets, "free"))
	})
	for reason, row := range map[string]struct {
		fails error
		names []string
		load  error
		left  []string
		want  string
	}{
		"release 7, 8: a kind that is found at run time": {nil, nil, nil, []string{others}, "Bell NAMESPACE/five released, still held by example.dev/others\n"},
		"release 7: whose reconciler can't be made": {
			errors.New("no hook"), nil, nil, []string{"bells.example.dev/ring", others},
			"warning: Bell: only the finalizers that every operator has are looked for: reconciler of Bell: no hook\n",
		},
		"release 7: whose selector knows them": {
			errors.New("no hook"), []string{others}, nil, []string{"bells.example.dev/ring"}, "Bell NAMESPACE/five released, still held by bells.example.dev/ring\n",
		},
		"release 8: what the selector needs can't be loaded": {
			nil, nil, errors.New("no file"), []string{"bells.example.dev/ring", others}, "gadget-operator: preparation bells: no file\n",
		},
	} {
		t.Run(reason, func(t *testing.T) {
			defer w.delete(bells, "five")
			w.finalized(bells, "five", false, "bells.example.dev/ring", others)
			loaded := false
			op := operator.New("gadget-operator", operator.Prepare("bells", func(context.Context, operator.Process) error {
				loaded = true
				return row.load
			}))
			selector := kinds.Selector{Group: bells.Group, Name: bells.Kind, Where: func(deploy.ServedKind) bool { return loaded }}
			if row.names != nil {
				selector.Finalizers = func(deploy.ServedKind) []string { return row.names }
			}
			op.DriveKinds(selector, func(ctx context.Context, env watch.Env, _ deploy.ServedKind) (watch.Reconciler, error) {
				if row.fails != nil {
					return nil, row.fails
				}
				return newRinging(ctx, env)
			})
			var out bytes.Buffer
			op.Execute(t.Context(), []string{
				"release", "--all", "--yes", "-n", w.Namespace, "--leader-election.namespace", w.Namespace, "--kubeconfig", w.Kubeconfig(t, someone),
			}, &out, &out)
			assert.Contains(t, strings.ReplaceAll(out.String(), w.Namespace, "NAMESPACE"), row.want)
			assert.Equal(t, row.left, w.finalizers(bells, "five"))
			w.merge(bells, "five", `{"metadata":{"finalizers":null}}`, "")
		})
	}
	for reason, row := range map[string]struct {
		args []string
		want string
	}{
		"nothing is named":   {nil, "no resources are given: name them, or use --selector or --all"},
		"all, and a name":    {[]string{"gadget", "one", "--all"}, "--all and names exclude each other"},
		"all, and labels":    {[]string{"--all", "-l", "a=b"}, "--all and --selector exclude each other"},
		"a kind of somebody": {[]string{"pod/one"}, "this operator controls no pod"},
	} {
		code, out := says(someone, append([]string{"release"}, row.args...)...)
		assert.Equal(t, 2, code, reason)
		assert.Contains(t, out, row.want, reason)
	}
}
