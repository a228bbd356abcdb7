package operator_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// patch is a document with a temporary patch of the sample.
func patch(name, spec string) string {
	return fmt.Sprintf("---\napiVersion: operkit.dev/v1\nkind: TemporaryPatch\nmetadata: {name: %s, namespace: shop}\nspec: {apiVersion: example.com/v1, kind: Widget, name: sample, %s}\n", name, spec)
}

// sets is a patch of the object "first".
func sets(name, value string) string {
	return patch(name, "patchType: strategic, patch: {first: {configmap/first: {data: {of: "+value+"}}}}")
}

func TestDryRunOfTemporaryPatches(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, documents string
		want, log         string
	}{
		{"patches 18: they are applied", sample + sets("a", "patched"), "of: patched", ""},
		{"a patch may come before what it patches", sets("a", "patched") + "---\n" + sample, "of: patched", ""},
		{"patches 16: the later one wins, whatever its name", sample + sets("z", "one") + sets("a", "two"), "of: two", ""},
		{"patches mistake 10: a priority wins over that", sample + patch("z", "patchType: strategic, priority: 1, patch: {first: {configmap/first: {data: {of: one}}}}") + sets("a", "two"), "of: one", ""},
		{"a null removes", sample + patch("a", "patchType: strategic, patch: {first: {configmap/first: {data: {of: null, by: patch}}}}"), "data:\n  by: patch\n", ""},
		{"JSON operations, as a list", sample + patch("a", "patchType: json, patches: [{component: first, object: configmap/first, patch: [{op: add, path: /data/by, value: patch}]}]"), "by: patch\n  of: first", ""},
		{"patches mistake 17: an expired one is said to be, and not applied", sample + patch("a", `patchType: strategic, expiresAt: "2001-01-01T00:00:00Z", patch: {first: {configmap/first: {data: {of: patched}}}}`),
			"of: first", `reason="expired at 2001-01-01T00:00:00Z"`},
		{"a paused one is said to be, and not applied", sample + strings.Replace(sets("a", "patched"), "namespace: shop", `namespace: shop, annotations: {operkit.dev/pause-execution: "true"}`, 1), "of: first", "it is paused"},
		{"patches mistake 7: the annotation of a resource saved from a cluster, without its patches",
			strings.Replace(sample, "namespace: shop", `namespace: shop, annotations: {operkit.dev/temporary-patches: '{"a":{"api_version":"operkit.dev/v1","timestamp":"2026-01-01T00:00:00Z"}}'}`, 1),
			"of: first", "temporary patch ignored: it is gone"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			code, out, log := execute(t, "run", "--dry-run", "--cr", file(t, row.documents))
			require.Zero(t, code, log)
			assert.Contains(t, out, row.want)
			assert.Contains(t, out, "# second: ConfigMap/second", "the rest is rendered, too")
			assert.NotContains(t, out, "TemporaryPatch", "a patch is no object of the rollout")
			assert.Contains(t, log, row.log)
		})
	}
}

// widgetOfKind is a widget of another kind.
type widgetOfKind struct {
	widget
	kind schema.GroupVersionKind
}

func (w widgetOfKind) Kind() schema.GroupVersionKind { return w.kind }

func TestEveryKindCanBePatched(t *testing.T) {
	t.Parallel()
	t.Run("patches mistake 1: whatever an operator controls, without a word about patches", func(t *testing.T) {
		t.Parallel()
		op := operator.New("widget-operator")
		op.Control(widget{})
		op.Control(widgetOfKind{kind: schema.GroupVersionKind{Group: "example.org", Version: "v2", Kind: "Gadget"}})
		gadget := strings.NewReplacer("example.com/v1", "example.org/v2", "Widget", "Gadget")
		documents := sample + sets("a", "one") + "---\n" + gadget.Replace(sample) + gadget.Replace(sets("b", "two"))
		var out, log bytes.Buffer
		require.Zero(t, op.Execute(t.Context(), []string{"run", "--dry-run", "--cr", file(t, documents)}, &out, &log), log.String())
		assert.Contains(t, out.String(), "of: one")
		assert.Contains(t, out.String(), "of: two")
	})
}

func TestDryRunOfWrongTemporaryPatches(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, documents string
		code              int
		want              string
	}{
		{"patches without what they patch", sets("a", "patched"), 2, "TemporaryPatch a: the resource that it patches, Widget shop/sample of example.com/v1, isn't among the files"},
		{"a target in another namespace", strings.Replace(sample, "shop", "market", 1) + sets("a", "patched"), 2, "Widget shop/sample of example.com/v1, isn't among"},
		{"another version of the kind", sample + strings.Replace(sets("a", "x"), "example.com/v1", "example.com/v2", 1), 1, "TemporaryPatch a: setup: spec.kind: Widget of example.com/v2 can't be patched: choose one of example.com/v1/Widget"},
		{"patches mistake 11: a place of which there is no object", sample + patch("a", "patchType: strategic, patch: {first: {configmap/thirst: {data: {of: x}}}}"), 1,
			"TemporaryPatch a: no object was rendered for first.configmap/thirst"},
		{"patches mistake 8: an operation that doesn't fit", sample + patch("a", "patchType: json, patch: {first: {configmap/first: [{op: remove, path: /data/none}]}}"), 1, "component first: object configmap/first: patch a: "},
		{"a type that is none", sample + patch("a", "patchType: merge, patch: {first: {configmap/first: {data: {of: x}}}}"), 1, `spec.patchType: unknown type "merge": choose strategic or json`},
		{"neither patch nor patches", sample + patch("a", "patchType: strategic"), 1, "TemporaryPatch a: setup: spec has neither patch nor patches"},
		{"a patch that would change nothing", sample + patch("a", "patchType: strategic, patch: {}"), 1, "TemporaryPatch a: setup: spec has neither patch nor patches"},
		{"two of one name", sample + sets("a", "one") + sets("a", "two"), 1, "TemporaryPatch shop/a"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			code, out, log := execute(t, "run", "--dry-run", "--cr", file(t, row.documents))
			assert.Equal(t, row.code, code, log)
			assert.Contains(t, log, row.want)
			assert.Contains(t, log, "cr.yaml", "it names the file")
			assert.Empty(t, out, "nothing that could be taken for what the patches make of it")
		})
	}
}

func TestPatchOptions(t *testing.T) {
	t.Parallel()
	hotfix := schema.GroupVersionKind{Group: "support.example.com", Version: "v2", Kind: "Hotfix"}
	as := func(apiVersion, kind string) string {
		return strings.NewReplacer("operkit.dev/v1", apiVersion, "TemporaryPatch", kind).Replace(sets("a", "patched"))
	}
	for _, row := range []struct {
		reason  string
		options []operator.Option
		patch   string
		want    string
	}{
		{"patches 9: the group is the operator's domain", []operator.Option{operator.Manager(deploy.KeyDomain("oper8.org"))}, as("oper8.org/v1", "TemporaryPatch"), "of: patched"},
		{"patches 9: another kind", []operator.Option{operator.TemporaryPatches(temporarypatch.As(hotfix))}, as("support.example.com/v2", "Hotfix"), "of: patched"},
		{"switched off, they are a kind like any other", []operator.Option{operator.WithoutTemporaryPatches()}, as("operkit.dev/v1", "TemporaryPatch"),
			"operkit.dev/v1 TemporaryPatch: this operator controls only the kinds example.com/v1 Widget"},
		{"an option that can't be", []operator.Option{operator.TemporaryPatches(temporarypatch.Clock(nil))}, as("operkit.dev/v1", "TemporaryPatch"), "nil clock"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			op := operator.New("widget-operator", row.options...)
			op.Control(widget{})
			var both bytes.Buffer
			op.Execute(t.Context(), []string{"run", "--dry-run", "--cr", file(t, sample+row.patch)}, &both, &both)
			assert.Contains(t, both.String(), row.want)
		})
	}
}

// patchKind controls patches by itself.
type patchKind struct{ widget }

func (patchKind) Kind() schema.GroupVersionKind { return temporarypatch.DefaultKind }

func TestPatchesControlledTwice(t *testing.T) {
	t.Parallel()
	op := operator.New("widget-operator")
	op.Control(patchKind{})
	var out, log bytes.Buffer
	assert.Equal(t, 1, op.Execute(t.Context(), []string{"run", "--kubeconfig", "testdata/good.kubeconfig"}, &out, &log))
	assert.Contains(t, log.String(), "has a reconciler already")
	assert.Contains(t, log.String(), "WithoutTemporaryPatches")
}
