package admission_test

import (
	"context"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/admission"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

func allow(context.Context, *thingRequest) error { return nil }

// service is where an operator in the cluster is reached.
var service = admission.Target{
	Service: &admissionregistrationv1.ServiceReference{Namespace: "shops", Name: "operator"}, CA: []byte("CA"),
}

func TestConfigurations(t *testing.T) {
	t.Parallel()
	t.Run("admission 12: one webhook for all validators of a kind, and one for all mutators", func(t *testing.T) {
		t.Parallel()
		hooks := admission.New[thing](things, admission.Within(3*time.Second), admission.Reinvoke(), admission.SideEffects(),
			admission.Objects(metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}), admission.If("sized", "has(object.spec.size)"))
		hooks.Validate("a", allow)
		hooks.Validate("b", allow, admission.On(admission.Delete), admission.Subresources("", "scale"))
		hooks.Mutate("c", allow, admission.On(admission.Create))
		validating, mutating := admission.Configurations("shops", service, resources, webhooksOf(t, hooks)...)
		assert.YAMLEq(t, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: shops}
webhooks:
- name: validate.thing.example.com
  admissionReviewVersions: [v1]
  clientConfig: {caBundle: Q0E=, service: {namespace: shops, name: operator, path: /validate.thing.example.com}}
  failurePolicy: Fail
  matchConditions: [{name: sized, expression: has(object.spec.size)}]
  matchPolicy: Equivalent
  namespaceSelector: {}
  objectSelector: {matchLabels: {tier: gold}}
  rules:
  - {apiGroups: [example.com], apiVersions: [v1], operations: [CREATE, DELETE, UPDATE], resources: [things], scope: '*'}
  - {apiGroups: [example.com], apiVersions: [v1], operations: [DELETE], resources: [things/scale], scope: '*'}
  sideEffects: NoneOnDryRun
  timeoutSeconds: 3
`, written(t, validating))
		assert.Equal(t, "mutate.thing.example.com", mutating.Webhooks[0].Name)
		assert.Equal(t, admissionregistrationv1.IfNeededReinvocationPolicy, *mutating.Webhooks[0].ReinvocationPolicy)
		assert.Equal(t, []admissionregistrationv1.OperationType{"CREATE"}, mutating.Webhooks[0].Rules[0].Operations)
	})
	t.Run("admission 12: without webhooks there is no configuration", func(t *testing.T) {
		t.Parallel()
		hooks := admission.New[thing](things)
		hooks.Validate("a", allow)
		validating, mutating := admission.Configurations("shops", service, resources, webhooksOf(t, hooks)...)
		assert.NotNil(t, validating)
		assert.Nil(t, mutating)
	})
	t.Run("admission 12: an operator outside of the cluster is reached by its address", func(t *testing.T) {
		t.Parallel()
		hooks := admission.New[thing](things, admission.Named("soft"), admission.IgnoreFailures())
		hooks.Validate("a", allow, admission.Subresources("*"))
		validating, _ := admission.Configurations("shops", admission.Target{URL: "https://127.0.0.1:9443/"}, resources, webhooksOf(t, hooks)...)
		got := validating.Webhooks[0]
		assert.Equal(t, "validate.thing-soft.example.com", got.Name)
		assert.Equal(t, "https://127.0.0.1:9443/validate.thing-soft.example.com", *got.ClientConfig.URL)
		assert.Equal(t, admissionregistrationv1.Ignore, *got.FailurePolicy)
		assert.Equal(t, []string{"things", "things/*"}, got.Rules[0].Resources)
	})
}

func resources(schema.GroupVersionKind) string { return "things" }

func written(t *testing.T, value any) string {
	t.Helper()
	text, err := yaml.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		hooks  func() *admission.Hooks[thing]
		says   string
	}{
		{"a nil function", func() *admission.Hooks[thing] { h := admission.New[thing](things); h.Validate("a", nil); return h }, `"a": nil function`},
		{"two functions of one name", func() *admission.Hooks[thing] {
			h := admission.New[thing](things)
			h.Validate("a", allow)
			h.Validate("a", allow)
			return h
		}, `"a": a function of the same name is registered`},
		{"a name that isn't one", func() *admission.Hooks[thing] {
			h := admission.New[thing](things)
			h.Validate("A b", allow)
			return h
		}, `"A b": the name isn't valid`},
		{"an operation that doesn't exist", func() *admission.Hooks[thing] {
			h := admission.New[thing](things)
			h.Mutate("a", allow, admission.On("PATCH"))
			return h
		}, `unknown operation "PATCH"`},
		{"no operation", func() *admission.Hooks[thing] {
			h := admission.New[thing](things)
			h.Mutate("a", allow, admission.On())
			return h
		}, "no operation"},
		{"no subresource", func() *admission.Hooks[thing] {
			h := admission.New[thing](things)
			h.Mutate("a", allow, admission.Subresources())
			return h
		}, "no subresource"},
		{"a kind without a name", func() *admission.Hooks[thing] { return admission.New[thing](schema.GroupVersionKind{}) }, "group, version and kind are needed"},
		{"a time that the API server doesn't take", func() *admission.Hooks[thing] {
			return admission.New[thing](things, admission.Within(time.Millisecond))
		}, "whole seconds from 1 to 30"},
		{"a selector that isn't one", func() *admission.Hooks[thing] {
			return admission.New[thing](things, admission.Objects(metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Is"}}}))
		}, `"Is" is not a valid label selector operator`},
		{"two conditions of one name", func() *admission.Hooks[thing] {
			return admission.New[thing](things, admission.If("a", "true"), admission.If("a", "false"))
		}, "condition a: is there twice"},
		{"a condition without an expression", func() *admission.Hooks[thing] { return admission.New[thing](things, admission.If("a", "")) }, "has no expression"},
		{"a suffix that isn't one", func() *admission.Hooks[thing] { return admission.New[thing](things, admission.Named("A.b")) }, `name "A.b"`},
	} {
		t.Run("admission 13: "+row.reason+" is a mistake", func(t *testing.T) {
			t.Parallel()
			_, err := row.hooks().Webhooks()
			assert.ErrorContains(t, err, "admission of ")
			assert.ErrorContains(t, err, row.says)
		})
	}
}
