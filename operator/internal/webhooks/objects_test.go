package webhooks

import (
	"context"
	"testing"

	"github.com/operkit/operkit/reconcile/admission"
	"github.com/operkit/operkit/reconcile/admission/rule"
	"github.com/operkit/operkit/reconcile/conversion"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

var (
	shops   = schema.GroupVersionKind{Group: "example.com", Version: "v2", Kind: "Shop"}
	pods    = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	plurals = map[schema.GroupKind]string{shops.GroupKind(): "shops", pods.GroupKind(): "pods"}
)

type shop struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
}

func allow(context.Context, *admission.Request[unstructured.Unstructured]) error { return nil }

func validator(kind schema.GroupVersionKind, options ...admission.KindOption) Hooks {
	hooks := admission.New[unstructured.Unstructured](kind, options...)
	hooks.Validate("any", allow)
	return hooks
}

func shopConversion() Converter {
	same := func(*shop, *shop) error { return nil }
	c := conversion.New[shop](shops)
	conversion.Add(c, shops.GroupKind().WithVersion("v1"), conversion.Functions[shop, shop]{Up: same, Down: same})
	return c
}

// service is the target of an operator in the cluster.
func service(ca string) *Target {
	port := int32(8443)
	return &Target{
		Target:    admission.Target{Service: &admissionregistrationv1.ServiceReference{Namespace: "shop", Name: "op", Port: &port}, CA: []byte(ca)},
		Namespace: "shop", Own: []schema.GroupKind{shops.GroupKind()},
	}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	everything := func() *Set {
		s := &Set{}
		s.Admit(validator(shops))
		s.Admit(validator(pods, admission.Namespaces(metav1.LabelSelector{MatchLabels: map[string]string{"tier": "prod"}})))
		s.Convert(shopConversion())
		s.Enforce(rule.Set{{Path: "spec.size", CEL: "self > 0", Message: "more than nothing"}}, rule.Policy{Name: "sized", Kind: shops, Resource: "shops"})
		return s
	}
	objects := func(t *testing.T, target *Target, served map[schema.GroupKind]string) (map[string]*unstructured.Unstructured, []string) {
		s := everything()
		require.NoError(t, s.Check())
		all, missing, err := s.objects("op", target, served)
		require.NoError(t, err)
		by := map[string]*unstructured.Unstructured{}
		for _, object := range all {
			by[object.GetKind()] = object
		}
		return by, missing
	}
	t.Run("webhooks 5: objects in the operator's namespace are left out, unless their kind is its own", func(t *testing.T) {
		by, _ := objects(t, service("CA"), plurals)
		entries, _, _ := unstructured.NestedSlice(by["ValidatingWebhookConfiguration"].Object, "webhooks")
		require.Len(t, entries, 2)
		assert.Empty(t, entries[0].(map[string]any)["namespaceSelector"], "the kind is its own")
		assert.Equal(t, map[string]any{
			"matchLabels":      map[string]any{"tier": "prod"},
			"matchExpressions": []any{map[string]any{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": []any{"shop"}}},
		}, entries[1].(map[string]any)["namespaceSelector"])
	})
	t.Run("webhooks 5: kinds of Kubernetes are left out there, also if the operator controls them", func(t *testing.T) {
		target := service("CA")
		target.Own = append(target.Own, pods.GroupKind())
		by, _ := objects(t, target, plurals)
		entries, _, _ := unstructured.NestedSlice(by["ValidatingWebhookConfiguration"].Object, "webhooks")
		assert.Contains(t, entries[1].(map[string]any)["namespaceSelector"], "matchExpressions")
	})
	t.Run("webhooks 5: an operator without a namespace leaves nothing out", func(t *testing.T) {
		target := &Target{Target: admission.Target{URL: "https://192.168.0.7:9443/"}}
		by, _ := objects(t, target, plurals)
		entries, _, _ := unstructured.NestedSlice(by["ValidatingWebhookConfiguration"].Object, "webhooks")
		assert.NotContains(t, entries[1].(map[string]any)["namespaceSelector"], "matchExpressions")
		url, _, _ := unstructured.NestedString(by["CustomResourceDefinition"].Object, "spec", "conversion", "webhook", "clientConfig", "url")
		assert.Equal(t, "https://192.168.0.7:9443/convert.Shop.example.com", url)
	})
	t.Run("webhooks 1: a definition gets its conversion and nothing else", func(t *testing.T) {
		by, _ := objects(t, service("CA"), plurals)
		assert.YAMLEq(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.example.com}
spec:
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {caBundle: Q0E=, service: {namespace: shop, name: op, port: 8443, path: /convert.Shop.example.com}}
`, written(t, by["CustomResourceDefinition"]))
	})
	t.Run("webhooks 10: without a target there are only policies", func(t *testing.T) {
		by, missing := objects(t, nil, plurals)
		assert.Len(t, by, 2)
		assert.Contains(t, by, "ValidatingAdmissionPolicy")
		assert.Contains(t, by, "ValidatingAdmissionPolicyBinding")
		assert.Empty(t, missing)
	})
	t.Run("webhooks 11: what isn't served is left out and named", func(t *testing.T) {
		by, missing := objects(t, service("CA"), map[schema.GroupKind]string{pods.GroupKind(): "pods"})
		assert.Equal(t, []string{"Shop.example.com"}, missing)
		entries, _, _ := unstructured.NestedSlice(by["ValidatingWebhookConfiguration"].Object, "webhooks")
		assert.Len(t, entries, 1)
		assert.NotContains(t, by, "CustomResourceDefinition")
	})
	t.Run("webhooks 12: cert-manager is asked for the CAs", func(t *testing.T) {
		target := service("")
		target.CA, target.InjectFrom = nil, "shop/op"
		by, _ := objects(t, target, plurals)
		for _, kind := range []string{"ValidatingWebhookConfiguration", "CustomResourceDefinition"} {
			assert.Equal(t, map[string]string{injectKey: "shop/op"}, by[kind].GetAnnotations(), kind)
			assert.NotContains(t, written(t, by[kind]), "caBundle")
		}
		assert.Empty(t, by["ValidatingAdmissionPolicy"].GetAnnotations())
	})
}

func written(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	text, err := yaml.Marshal(object.Object)
	require.NoError(t, err)
	return string(text)
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		add    func(s *Set)
		says   string
	}{
		{"no hooks", func(s *Set) { s.Admit(nil) }, "nil admission: pass Hooks to Admit"},
		{"no converter", func(s *Set) { s.Convert(nil) }, "nil conversion: pass a Converter to Convert"},
		{"two hooks of one kind", func(s *Set) { s.Admit(validator(shops)); s.Admit(validator(shops)) },
			"two webhooks are called validate.shop.example.com: use the option Named"},
		{"two conversions of one kind", func(s *Set) { s.Convert(shopConversion()); s.Convert(shopConversion()) },
			"the kind Shop.example.com has two conversions: add all versions to one Converter"},
		{"a mistake in hooks", func(s *Set) { s.Admit(validator(schema.GroupVersionKind{})) }, "group, version and kind are needed"},
		{"a mistake in a converter", func(s *Set) { s.Convert(conversion.New[shop](shops)) }, "there is one version only"},
		{"two policies of one name", func(s *Set) {
			for range 2 {
				s.Enforce(rule.Set{{CEL: "true", Message: "any"}}, rule.Policy{Name: "sized", Kind: shops, Resource: "shops"})
			}
		}, "two policies are called sized"},
		{"a mistake in a policy", func(s *Set) { s.Enforce(nil, rule.Policy{Name: "sized"}) }, "policy sized: a policy needs a name"},
	} {
		t.Run("webhooks 13: "+row.reason, func(t *testing.T) {
			t.Parallel()
			s := &Set{}
			row.add(s)
			assert.ErrorContains(t, s.Check(), row.says)
		})
	}
}
