package operator_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// website has a Deployment for each gadget, without waiting for it.
type website struct{ settings }

func (website) Setup(_ context.Context, s *reconcile.Session) error {
	labels := map[string]any{"app": s.Name()}
	s.Add("web").Add("deployment", map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": s.Name()},
		"spec": map[string]any{
			"replicas": int64(1), "selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "web", "image": "web"}}},
			},
		},
	}, reconcile.ReadyWhen(func(context.Context, *unstructured.Unstructured) error { return nil }))
	return nil
}

// What somebody has scaled is left to them, which status and diff say, until it is taken back.
func TestTakeBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	build := func() *operator.Operator {
		op := operator.New("gadget-operator")
		op.Control(website{settings{gadgets}})
		return op
	}
	all := rbacv1.PolicyRule{Verbs: []string{"get", "list", "watch", "create", "patch", "delete"}, APIGroups: []string{"apps"}, Resources: []string{"deployments", "deployments/scale"}}
	r := w.run("gadget-operator", build(), w.replica("operator", append(rightsIn(t, "## Events\n"), all)...), "--namespace", w.Namespace)
	w.gadget("one", "nothing")
	someone := w.Kubeconfig(t, w.User(t, "someone", envtest.InNamespace(all, own)))
	says := func(args ...string) (int, string) {
		var out bytes.Buffer
		code := build().Execute(t.Context(), append(args, "-n", w.Namespace, "--kubeconfig", someone), &out, &out)
		return code, out.String()
	}
	ready := func() string {
		condition, _ := status.Conditions(w.get(gadgets, "one")).Get(status.ConditionReady)
		return condition.Message
	}
	replicas := func() int64 {
		n, _, err := unstructured.NestedInt64(w.get(deployments, "one").Object, "spec", "replicas")
		require.NoError(t, err)
		return n
	}
	w.eventually("it is ready", func() bool { return ready() == "Verify Complete" })
	_, err := w.api.Port().Patch(t.Context(), w.ref(deployments, "one"), deploy.PatchRequest{
		Type: types.MergePatchType, Body: []byte(`{"spec":{"replicas":5}}`), Subresource: "scale", FieldManager: "kubectl",
	})
	require.NoError(t, err)
	const left = "Deployment one: spec.replicas: left to kubectl, which set 5"
	w.eventually("the status says so", func() bool { return ready() == "Verify Complete; "+left })

	mark := w.Mark(t)
	w.change(w.ref(gadgets, "one"), `{"metadata":{"annotations":{"operkit.dev/reconcile-at":"now"}}}`)
	again := w.run("another", build(), r.user, "--namespace", w.Namespace, "--log.level", "debug")
	w.eventually("another process has looked", func() bool { return len(again.log.lines("reconciled")) > 0 })
	again.stop()
	assert.Empty(t, w.CallsSince(t, mark, r.user).Writes(), "it costs no request, after a restart either")

	code, out := says("status", "gadget/one")
	assert.Zero(t, code)
	assert.Contains(t, out, left)
	_, out = says("status", "gadget")
	assert.Contains(t, out, left)
	code, out = says("diff", "gadget/one")
	assert.Zero(t, code, "nothing would change: %s", out)
	assert.Equal(t, "# Deployment "+w.Namespace+"/one: spec.replicas: left to kubectl, which set 5\n", out)

	for reason, row := range map[string]struct {
		args []string
		code int
		want string
	}{
		"a dry run":               {[]string{"deployment/one", "spec.replicas", "--dry-run"}, 0, "spec.replicas: held by kubectl\nDeployment " + w.Namespace + "/one would be taken back (dry run)\n"},
		"nobody is there":         {[]string{"deploy/one", "spec.replicas"}, 2, "nothing was taken back: answer y, or give --yes"},
		"a field that is ours":    {[]string{"deploy/one", "spec.template", "--yes"}, 1, "spec.template: no other manager holds it"},
		"no field":                {[]string{"deploy/one"}, 2, "no fields are given"},
		"no kind":                 {[]string{"one", "spec.replicas"}, 2, "the kind is missing: give KIND/one"},
		"a kind that isn't there": {[]string{"nosuchkind/one", "spec.replicas"}, 2, "the cluster has no kind nosuchkind"},
		"an object of nobody":     {[]string{"deploy/two", "spec.replicas"}, 1, "not found"},
	} {
		code, out := says(append([]string{"take-back"}, row.args...)...)
		assert.Equal(t, row.code, code, "%s: %s", reason, out)
		assert.Contains(t, out, row.want, reason)
	}
	assert.EqualValues(t, 5, replicas())
	code, out = says("take-back", "deployment/one", "spec.replicas", "--yes")
	assert.Zero(t, code, out)
	assert.Contains(t, out, "taken back")
	w.eventually("the operator sets it", func() bool { return replicas() == 1 })
	w.eventually("the status says nothing more", func() bool { return ready() == "Verify Complete" })
}
