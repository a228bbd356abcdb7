package ruletest_test

import (
	"testing"

	"github.com/operkit/operkit/reconcile/admission/rule"
	"github.com/operkit/operkit/reconcile/admission/rule/ruletest"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const shopsFile = "testdata/shops.yaml"

// shops describes a policy about shops.
var shops = rule.Policy{Name: "shops", Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Shop"}, Resource: "shops"}

// shop returns a shop with a spec.
func shop(spec map[string]any) map[string]any {
	return map[string]any{"apiVersion": "example.com/v1", "kind": "Shop", "metadata": map[string]any{"name": "tea"}, "spec": spec}
}

// shopsDefinition returns the definition of shops.
func shopsDefinition(t testing.TB) *unstructured.Unstructured {
	t.Helper()
	definition, err := ruletest.Read(shopsFile)
	require.NoError(t, err)
	return definition
}

// compiled compiles the definition of shops with a set.
func compiled(t testing.TB, set rule.Set) *ruletest.Definition {
	t.Helper()
	definition, err := ruletest.CompileDefinition(set, shopsDefinition(t))
	require.NoError(t, err)
	return definition
}
