package ruletest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/admission/rule"
	"github.com/operkit/operkit/reconcile/admission/rule/ruletest"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// world is an API server with both kinds, at first without rules.
type world struct {
	t         *testing.T
	namespace string
	client    *dynamic.DynamicClient
	warnings  *warnings
}

// warnings collects the warnings of answers.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	texts := w.texts
	w.texts = nil
	return texts
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

func newWorld(t *testing.T) *world {
	folder := t.TempDir()
	for _, kind := range []schema.GroupVersionKind{ruled, policed} {
		text, err := yaml.Marshal(definitionOf(t, kind))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, kind.Kind+".yaml"), text, 0o600))
	}
	env := envtest.Start(t, envtest.CRDs(folder))
	config := rest.CopyConfig(env.Admin)
	w := &world{t: t, namespace: env.Namespace, warnings: &warnings{}}
	config.WarningHandler, config.QPS = w.warnings, -1
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	w.client = client
	return w
}

func (w *world) resource(kind schema.GroupVersionKind) dynamic.ResourceInterface {
	return w.client.Resource(kind.GroupVersion().WithResource(strings.ToLower(kind.Kind) + "s")).Namespace(w.namespace)
}

// object makes an object.
func (w *world) object(kind schema.GroupVersionKind, name string, spec map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name, "namespace": w.namespace}}}
	if spec != nil {
		object.Object["spec"] = spec
	}
	object.SetGroupVersionKind(kind)
	return object
}

// as returns an object as one of another kind.
func (w *world) as(kind schema.GroupVersionKind, object *unstructured.Unstructured) *unstructured.Unstructured {
	spec, _ := object.Object["spec"].(map[string]any)
	return w.object(kind, object.GetName(), spec)
}

// store creates an object of each kind, and reports whether the schema allowed it.
func (w *world) store(i int, spec map[string]any) bool {
	for _, kind := range []schema.GroupVersionKind{ruled, policed} {
		if _, err := w.resource(kind).Create(w.t.Context(), w.object(kind, fmt.Sprintf("s%d", i), spec), metav1.CreateOptions{}); err != nil {
			return false
		}
	}
	return true
}

// get returns an object as it is stored.
func (w *world) get(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	object, err := w.resource(kind).Get(w.t.Context(), name, metav1.GetOptions{})
	require.NoError(w.t, err)
	return object
}

// send creates or updates an object as a dry run.
func (w *world) send(before, object *unstructured.Unstructured) (err error) {
	api := w.resource(object.GroupVersionKind())
	if before == nil {
		_, err = api.Create(w.t.Context(), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	} else {
		_, err = api.Update(w.t.Context(), object, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
	}
	return err
}

// policyName returns the name of a policy: 0 warns, 1 denies.
func (w *world) policyName(i int) string {
	return fmt.Sprintf("rt%d-%s", i, w.namespace[len(w.namespace)-8:])
}

// policyOf describes a policy.
func (w *world) policyOf(i int) rule.Policy {
	action := admissionregistrationv1.Warn
	if i == 1 {
		action = admissionregistrationv1.Deny
	}
	return rule.Policy{
		Name: w.policyName(i), Kind: policed, Resource: "policeds", Actions: []admissionregistrationv1.ValidationAction{action},
		Namespaces: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": w.namespace}},
	}
}

// policies compiles the policies.
func (w *world) policies(set rule.Set) (all []*ruletest.Policy) {
	for i := range 2 {
		policy, err := ruletest.CompilePolicy(set, w.policyOf(i), ruletest.Schema(definitionOf(w.t, policed)))
		require.NoError(w.t, err)
		all = append(all, policy)
	}
	return all
}

// enforce puts the rules into force, in the definition of one kind and in policies for the other one.
func (w *world) enforce(set rule.Set) {
	api := w.client.Resource(definitions)
	definition, err := api.Get(w.t.Context(), "ruleds."+ruled.Group, metav1.GetOptions{})
	require.NoError(w.t, err)
	definition, err = set.AddTo(definition)
	require.NoError(w.t, err)
	_, err = api.Update(w.t.Context(), definition, metav1.UpdateOptions{})
	require.NoError(w.t, err)
	for i := range 2 {
		policy, binding, err := set.Policy(w.policyOf(i))
		require.NoError(w.t, err)
		w.create("validatingadmissionpolicies", policy.Name, policy)
		w.create("validatingadmissionpolicybindings", policy.Name, binding)
	}
	require.Eventually(w.t, func() bool {
		inDefinition := w.ask(nil, w.object(ruled, "probe", map[string]any{"size": int64(1)}))
		inPolicy := w.ask(nil, w.object(policed, "probe", map[string]any{"size": int64(1)}))
		return !inDefinition.Accepted && inPolicy.Denied != "" && slices.ContainsFunc(inPolicy.Warnings, func(text string) bool { return strings.Contains(text, w.policyName(0)) })
	}, 30*time.Second, 50*time.Millisecond, "the rules come into force")
}

// create creates a cluster-scoped object of admissionregistration.k8s.io until the test ends.
func (w *world) create(resource, name string, object any) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	require.NoError(w.t, err)
	api := w.client.Resource(admissionregistrationv1.SchemeGroupVersion.WithResource(resource))
	_, err = api.Create(w.t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	require.NoError(w.t, err)
	w.t.Cleanup(func() {
		assert.NoError(w.t, api.Delete(context.WithoutCancel(w.t.Context()), name, metav1.DeleteOptions{}))
	})
}
