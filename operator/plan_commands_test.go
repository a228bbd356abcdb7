package operator_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// chain controls gadgets: a store, and a front that waits for it; the second release has no store any more. A spec says
// what is in the store.
type chain struct{ release int }

func (chain) Kind() schema.GroupVersionKind { return gadgets }

func (c chain) Setup(_ context.Context, s *reconcile.Session) error {
	var gadget struct {
		Spec struct {
			Of string `json:"of"`
		} `json:"spec"`
	}
	if err := s.Into(&gadget); err != nil {
		return err
	}
	front := s.Add("front", content(s.Name()+"-front", gadget.Spec.Of))
	if c.release == 1 {
		front.After(s.Add("store", content(s.Name(), "old")), reconcile.Ready)
	}
	return nil
}

func content(name, mode string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"mode": mode}}
}

// release runs a command of a release of the operator.
func (p *person) release(number int, args ...string) (code int, stdout, stderr string) {
	p.w.t.Helper()
	op := operator.New("gadget-operator")
	op.Control(chain{number})
	var out, log bytes.Buffer
	code = op.Execute(p.w.t.Context(), append(args, "--kubeconfig", p.kubeconfig, "--namespace", p.w.Namespace), &out, &log)
	return code, out.String(), strings.ReplaceAll(log.String(), p.w.Namespace, "NS")
}

func TestPlanCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	user := w.replica("somebody", rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{"operator.operkit.dev"}, Resources: []string{"gadgets"}})
	someone := &person{w, user, w.Kubeconfig(t, user)}
	w.create("{apiVersion: operator.operkit.dev/v1, kind: Gadget, metadata: {name: one}, spec: {of: glass}}")

	t.Run("diff: all is new, and nothing is changed", func(t *testing.T) {
		mark := w.Mark(t)
		code, out, log := someone.release(1, "diff", "one")
		assert.Equal(t, 1, code, log)
		assert.Empty(t, log)
		assert.Equal(t, 2, strings.Count(out, "--- /dev/null\n"), out)
		assert.Contains(t, out, "+  mode: glass\n")
		assert.Nil(t, w.get(configMaps, "one"))
		assert.Empty(t, w.CallsSince(t, mark, user).Writes())
	})
	t.Run("diff: a misspelt field of a file is left out, with a warning", func(t *testing.T) {
		misspelt := file(t, "apiVersion: operator.operkit.dev/v1\nkind: Gadget\nmetadata: {name: one}\nspec: {oof: wood}\n")
		reader := w.User(t, "reader-of-definitions", envtest.ClusterWide(
			rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}},
			rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"operator.operkit.dev"}, Resources: []string{"*"}},
			rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}))
		code, out, log := (&person{w, reader, w.Kubeconfig(t, reader)}).release(1, "diff", "-f", misspelt)
		assert.Equal(t, 1, code, log)
		assert.Regexp(t, `^warning: .*/cr.yaml, Gadget one: unknown field "spec.oof" is left out: did you mean of\?\n$`, log)
		assert.NotContains(t, out, "wood")
		code, _, log = someone.release(1, "diff", "-f", misspelt)
		assert.Equal(t, 2, code, "who can't read the definition gets the API server's error")
		assert.Contains(t, log, `unknown field "spec.oof"`)
	})
	t.Run("reconcile", func(t *testing.T) {
		code, out, log := someone.release(1, "reconcile", "one")
		require.Zero(t, code, log)
		assert.Equal(t, "store: ConfigMap NS/one created\nfront: ConfigMap NS/one-front created\nGadget NS/one: Stable: Verify Complete\n", strings.ReplaceAll(out, w.Namespace, "NS"))
		code, out, log = someone.release(1, "reconcile", "gadget/one")
		require.Zero(t, code, log)
		assert.Contains(t, out, "one unchanged\n")
	})
	t.Run("diff: nothing is to be done", func(t *testing.T) {
		mark := w.Mark(t)
		code, out, log := someone.release(1, "diff")
		assert.Zero(t, code, log)
		assert.Empty(t, out+log)
		assert.Empty(t, w.CallsSince(t, mark, user).Writes())
	})
	t.Run("diff: what somebody else has done", func(t *testing.T) {
		w.change(w.ref(configMaps, "one"), `{"data":{"mode":"theirs"}}`)
		code, out, log := someone.release(1, "diff", "one")
		assert.Equal(t, 1, code, log)
		assert.Contains(t, out, "-  mode: theirs\n+  mode: old\n")
		_, _, log = someone.release(1, "reconcile", "one")
		assert.Empty(t, log)
		assert.Equal(t, "old", w.mode("one"))
	})
	t.Run("diff: of an edited file", func(t *testing.T) {
		edited := file(t, "apiVersion: operator.operkit.dev/v1\nkind: Gadget\nmetadata: {name: one}\nspec: {of: wood}\n")
		code, out, log := someone.release(1, "diff", "-f", edited, "-o", "json")
		assert.Equal(t, 1, code, log)
		var changes []map[string]any
		require.NoError(t, json.Unmarshal([]byte(out), &changes))
		require.Len(t, changes, 2)
		assert.Equal(t, map[string]any{"resource": "Gadget " + w.Namespace + "/one", "component": "store", "object": "ConfigMap " + w.Namespace + "/one", "action": "unchanged"}, changes[0])
		assert.Equal(t, []any{`.data.mode: "glass" -> "wood"`}, changes[1]["changes"])
		empty := file(t, "apiVersion: operator.operkit.dev/v1\nkind: Gadget\nmetadata: {name: one}\n")
		code, out, log = someone.release(1, "diff", "-f", empty)
		assert.Equal(t, 1, code, log)
		assert.Contains(t, out, "-  mode: glass\n", "what the file leaves out is gone")
		fresh := file(t, "apiVersion: operator.operkit.dev/v1\nkind: Gadget\nmetadata: {name: two}\nspec: {of: wood}\n")
		code, out, log = someone.release(1, "diff", "-f", fresh)
		assert.Equal(t, 1, code, log)
		assert.Contains(t, out, "+++ ConfigMap "+w.Namespace+"/two-front (applied)\n")
		assert.Nil(t, w.get(gadgets, "two"))
	})
	t.Run("diff: what a new release no longer renders", func(t *testing.T) {
		code, out, log := someone.release(2, "diff", "one")
		assert.Equal(t, 1, code, log)
		assert.Contains(t, out, "--- ConfigMap "+w.Namespace+"/one (live)\n+++ /dev/null\n")
		assert.NotNil(t, w.get(configMaps, "one"))
	})
	t.Run("graph", func(t *testing.T) {
		code, out, log := someone.release(1, "graph", "one")
		require.Zero(t, code, log)
		assert.Equal(t, "COMPONENT   WAITS FOR   STATE\nstore       -           verified\nfront       store       verified\n", out)
		code, out, log = someone.release(1, "graph", "one", "-o", "dot")
		require.Zero(t, code, log)
		assert.Contains(t, out, `"front" -> "store" [style=dashed];`)
		assert.Contains(t, out, "fillcolor")
	})
	t.Run("bad input", func(t *testing.T) {
		bad := file(t, "apiVersion: operator.operkit.dev/v1\nkind: Gadget\nmetadata: {name: one}\nspec: {of: 3}\n")
		for reason, row := range map[string]struct {
			args []string
			code int
			want string
		}{
			"one that isn't there, by diff":  {[]string{"diff", "nobody"}, 2, "Gadget NS/nobody: not found"},
			"a file that the schema refuses": {[]string{"diff", "-f", bad}, 2, "spec.of"},
			"a file and a name":              {[]string{"diff", "one", "-f", bad}, 2, "--filename can't be combined with names"},
			"a kind is no name":              {[]string{"reconcile", "gadget"}, 2, "no resources are given: name them, or use --selector"},
			"no such context":                {[]string{"diff", "one", "--context", "moon"}, 2, `context "moon" does not exist`},
			"a form that there isn't":        {[]string{"diff", "one", "-o", "xml"}, 2, `--output "xml": use diff, yaml or json`},
			"nothing to reconcile":           {[]string{"reconcile"}, 2, "no resources are given: name them, or use --selector"},
			"one that isn't there":           {[]string{"reconcile", "nobody"}, 1, "Gadget NS/nobody: not found"},
			"graph of nothing":               {[]string{"graph"}, 2, "graph: give either NAME or --filename FILE"},
			"a drawing that there isn't":     {[]string{"graph", "one", "-o", "png"}, 2, `--output "png": use text, dot, mermaid, svg`},
			"a drawing of what isn't there":  {[]string{"graph", "nobody"}, 1, "Gadget NS/nobody: not found"},
		} {
			code, out, log := someone.release(1, row.args...)
			assert.Equal(t, row.code, code, "%s: %s", reason, log)
			assert.Empty(t, out, reason)
			assert.Contains(t, log, row.want, reason)
		}
		nobody := w.person("nobody", "get", "list")
		code, _, log := nobody.release(1, "diff", "one")
		assert.Equal(t, 2, code)
		assert.Contains(t, log, "configmaps")
	})
}

func TestGraphOffline(t *testing.T) {
	t.Parallel()
	code, out, log := execute(t, "graph", "-f", file(t, sample))
	require.Zero(t, code, log)
	assert.Equal(t, "COMPONENT   WAITS FOR\nfirst       -\nsecond      first\n", out)
	code, out, log = execute(t, "graph", "-f", file(t, sample), "-o", "mermaid")
	require.Zero(t, code, log)
	assert.Equal(t, "flowchart LR\n  n0[\"second\"]\n  n1[\"first\"]\n  n0 -.-> n1\n", out)
	code, _, log = execute(t, "graph", "-f", file(t, strings.Replace(sample, "spec: {}", "spec: {mistake: cycle}", 1)))
	assert.Equal(t, 1, code)
	assert.Contains(t, log, "Widget sample: component first: ")
}
