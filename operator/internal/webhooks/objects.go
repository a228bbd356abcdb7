package webhooks

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/admission"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The kinds of what is kept.
var (
	validatingKind = admissionregistrationv1.SchemeGroupVersion.WithKind("ValidatingWebhookConfiguration")
	mutatingKind   = admissionregistrationv1.SchemeGroupVersion.WithKind("MutatingWebhookConfiguration")
	policyKind     = admissionregistrationv1.SchemeGroupVersion.WithKind("ValidatingAdmissionPolicy")
	bindingKind    = admissionregistrationv1.SchemeGroupVersion.WithKind("ValidatingAdmissionPolicyBinding")
	definitionKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
)

// injectKey is the annotation by which cert-manager writes CAs into an object.
const injectKey = "cert-manager.io/inject-ca-from"

// Target is where the API server reaches the operator.
type Target struct {
	admission.Target
	// InjectFrom is the Certificate from which cert-manager writes the CAs; empty if it doesn't.
	InjectFrom string
	// Namespace is the operator's own namespace; empty if it has none. The webhooks of kinds that aren't in Own aren't
	// called for objects in it, so that an operator that is down can be started again.
	Namespace string
	// Own are the kinds that the operator controls. Those of Kubernetes don't count.
	Own []schema.GroupKind
}

// keeps reports whether objects of a kind are kept.
func (s *Set) keeps(kind schema.GroupVersionKind) bool {
	switch kind {
	case policyKind, bindingKind:
		return len(s.policies) > 0
	case definitionKind:
		return len(s.converters) > 0
	}
	mutating := kind == mutatingKind
	return slices.ContainsFunc(s.webhooks, func(w *admission.Webhook) bool { return w.Mutating() == mutating })
}

// objects returns what the API server has to know: without a target only the policies. resources are the names of the
// resources of the kinds that are served. missing are those that aren't, whose objects are left out.
func (s *Set) objects(name string, target *Target, resources map[schema.GroupKind]string) (all []*unstructured.Unstructured, missing []string, err error) {
	if target != nil {
		if all, missing, err = s.reached(name, *target, resources); err != nil {
			return nil, nil, err
		}
	}
	for _, policy := range s.policies {
		all = append(all, policy.DeepCopy())
	}
	return all, missing, nil
}

// reached returns the objects with the target.
func (s *Set) reached(name string, target Target, resources map[schema.GroupKind]string) (all []*unstructured.Unstructured, missing []string, err error) {
	known := func(kind schema.GroupKind) bool {
		if resources[kind] == "" {
			missing = append(missing, kind.String())
		}
		return resources[kind] != ""
	}
	var asked []*admission.Webhook
	for _, w := range s.webhooks {
		if known(w.Kind().GroupKind()) {
			asked = append(asked, w)
		}
	}
	all, err = s.configurations(name, target, asked, func(kind schema.GroupVersionKind) string { return resources[kind.GroupKind()] })
	for _, c := range s.converters {
		if known(c.Kind()) {
			all = append(all, definition(c, target, resources[c.Kind()]))
		}
	}
	if target.InjectFrom != "" {
		for _, object := range all {
			object.SetAnnotations(map[string]string{injectKey: target.InjectFrom})
		}
	}
	slices.Sort(missing)
	return all, slices.Compact(missing), err
}

// configurations returns the configurations of webhooks.
func (s *Set) configurations(name string, target Target, asked []*admission.Webhook, resource func(schema.GroupVersionKind) string) (all []*unstructured.Unstructured, err error) {
	validating, mutating := admission.Configurations(name, target.Target, resource, asked...)
	var made []any
	if validating != nil {
		for i, w := range validating.Webhooks {
			validating.Webhooks[i].NamespaceSelector = target.outside(s.kindOf(w.Name), w.NamespaceSelector)
		}
		made = append(made, validating)
	}
	if mutating != nil {
		for i, w := range mutating.Webhooks {
			mutating.Webhooks[i].NamespaceSelector = target.outside(s.kindOf(w.Name), w.NamespaceSelector)
		}
		made = append(made, mutating)
	}
	for _, one := range made {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(one)
		if err != nil {
			return nil, err
		}
		unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
		all = append(all, &unstructured.Unstructured{Object: content})
	}
	return all, nil
}

// outside returns a selector that also leaves out the operator's own namespace, unless the kind is its own.
func (t Target) outside(kind schema.GroupKind, selector *metav1.LabelSelector) *metav1.LabelSelector {
	if t.Namespace == "" || slices.Contains(t.Own, kind) && !builtIn(kind) {
		return selector
	}
	selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
		Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpNotIn, Values: []string{t.Namespace},
	})
	return selector
}

// builtIn reports whether a kind is one of Kubernetes, such as Pod or Lease, without which no operator starts.
func builtIn(kind schema.GroupKind) bool {
	return !strings.Contains(kind.Group, ".") || strings.HasSuffix(kind.Group, ".k8s.io")
}

// kindOf returns the kind of a webhook.
func (s *Set) kindOf(name string) schema.GroupKind {
	at := slices.IndexFunc(s.webhooks, func(w *admission.Webhook) bool { return w.Name() == name })
	return s.webhooks[at].Kind().GroupKind()
}

// definition returns the part of a CustomResourceDefinition by which the API server asks for conversions.
func definition(c Converter, target Target, resource string) *unstructured.Unstructured {
	client := map[string]any{}
	if target.CA != nil {
		client["caBundle"] = base64.StdEncoding.EncodeToString(target.CA)
	}
	if s := target.Service; s != nil {
		service := map[string]any{"namespace": s.Namespace, "name": s.Name, "path": c.Path()}
		if s.Port != nil {
			service["port"] = int64(*s.Port)
		}
		client["service"] = service
	} else {
		client["url"] = strings.TrimSuffix(target.URL, "/") + c.Path()
	}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"conversion": map[string]any{
		"strategy": "Webhook",
		"webhook":  map[string]any{"clientConfig": client, "conversionReviewVersions": []any{"v1"}},
	}}}}
	object.SetGroupVersionKind(definitionKind)
	object.SetName(fmt.Sprintf("%s.%s", resource, c.Kind().Group))
	return object
}
