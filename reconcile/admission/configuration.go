package admission

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Target is where the API server reaches webhooks.
type Target struct {
	// Service has the port that serves the webhooks, for an operator in the cluster. Its Path isn't used.
	Service *admissionregistrationv1.ServiceReference
	// URL is the address of an operator outside of the cluster, such as https://192.168.0.7:9443, if Service is nil.
	URL string
	// CA are the CAs by which the API server verifies the certificate of the server, as PEM. Empty: those of its
	// system, or somebody else fills them in.
	CA []byte
}

// client returns the target of one webhook.
func (t Target) client(path string) admissionregistrationv1.WebhookClientConfig {
	client := admissionregistrationv1.WebhookClientConfig{CABundle: t.CA}
	if t.Service != nil {
		service := *t.Service
		service.Path = &path
		client.Service = &service
		return client
	}
	url := strings.TrimSuffix(t.URL, "/") + path
	client.URL = &url
	return client
}

// Name returns the name of the webhook, which is unique for a kind and the option Named.
func (w *Webhook) Name() string { return w.name }

// Kind returns the kind of the objects.
func (w *Webhook) Kind() schema.GroupVersionKind { return w.kind }

// Path returns the path under which the API server calls the webhook.
func (w *Webhook) Path() string { return "/" + w.name }

// name returns the end of the names of the webhooks of a kind.
func (h *Hooks[T]) name() string {
	first := strings.ToLower(h.kind.Kind)
	if h.policy.suffix != "" {
		first += "-" + h.policy.suffix
	}
	return first + "." + cmp.Or(h.kind.Group, "core")
}

// Mutating reports whether the webhook changes objects.
func (w *Webhook) Mutating() bool { return w.mutating }

// validatingOf returns the entry of a validating webhook, which has no ReinvocationPolicy.
func validatingOf(e admissionregistrationv1.MutatingWebhook) admissionregistrationv1.ValidatingWebhook {
	return admissionregistrationv1.ValidatingWebhook{
		Name: e.Name, ClientConfig: e.ClientConfig, Rules: e.Rules, FailurePolicy: e.FailurePolicy, MatchPolicy: e.MatchPolicy,
		NamespaceSelector: e.NamespaceSelector, ObjectSelector: e.ObjectSelector, SideEffects: e.SideEffects,
		TimeoutSeconds: e.TimeoutSeconds, AdmissionReviewVersions: e.AdmissionReviewVersions, MatchConditions: e.MatchConditions,
	}
}

// entry returns the entry of a webhook in a configuration. All fields with defaults are set, so that nothing of it
// depends on the version of the API server.
func (w *Webhook) entry(target Target, resource string) admissionregistrationv1.MutatingWebhook {
	failure, sideEffects, again := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.NeverReinvocationPolicy
	if w.policy.ignore {
		failure = admissionregistrationv1.Ignore
	}
	if w.policy.sideEffects {
		sideEffects = admissionregistrationv1.SideEffectClassNoneOnDryRun
	}
	if w.policy.again {
		again = admissionregistrationv1.IfNeededReinvocationPolicy
	}
	equivalent, seconds := admissionregistrationv1.Equivalent, int32(cmp.Or(w.policy.timeout, 10*time.Second)/time.Second)
	return admissionregistrationv1.MutatingWebhook{
		Name: w.name, ClientConfig: target.client(w.Path()), Rules: w.rules(resource),
		FailurePolicy: &failure, MatchPolicy: &equivalent, SideEffects: &sideEffects, TimeoutSeconds: &seconds, ReinvocationPolicy: &again,
		NamespaceSelector: selectorOf(w.policy.namespaces), ObjectSelector: selectorOf(w.policy.objects),
		AdmissionReviewVersions: []string{"v1"}, MatchConditions: w.policy.conditions,
	}
}

func selectorOf(given *metav1.LabelSelector) *metav1.LabelSelector {
	if given == nil {
		return &metav1.LabelSelector{}
	}
	return given.DeepCopy()
}

// rules returns the operations and resources for which the webhook is called: one rule for each set of operations.
func (w *Webhook) rules(resource string) (rules []admissionregistrationv1.RuleWithOperations) {
	operations := map[string]map[admissionregistrationv1.OperationType]bool{} // by resource
	for _, f := range w.functions {
		ops, subresources := f.handles()
		for _, sub := range subresources {
			for _, name := range resourcesOf(resource, sub) {
				if operations[name] == nil {
					operations[name] = map[admissionregistrationv1.OperationType]bool{}
				}
				for _, op := range ops {
					operations[name][admissionregistrationv1.OperationType(op)] = true
				}
			}
		}
	}
	scope := admissionregistrationv1.AllScopes
	for _, name := range slices.Sorted(maps.Keys(operations)) {
		ops := slices.Sorted(maps.Keys(operations[name]))
		if i := slices.IndexFunc(rules, func(r admissionregistrationv1.RuleWithOperations) bool { return slices.Equal(r.Operations, ops) }); i >= 0 {
			rules[i].Resources = append(rules[i].Resources, name)
			continue
		}
		rules = append(rules, admissionregistrationv1.RuleWithOperations{Operations: ops, Rule: admissionregistrationv1.Rule{
			APIGroups: []string{w.kind.Group}, APIVersions: []string{w.kind.Version}, Resources: []string{name}, Scope: &scope,
		}})
	}
	return rules
}

// resourcesOf returns the resources in a rule for a subresource.
func resourcesOf(resource, sub string) []string {
	switch sub {
	case "":
		return []string{resource}
	case anySubresource:
		return []string{resource, resource + "/*"}
	}
	return []string{resource + "/" + sub}
}

// Configurations returns the objects by which the API server knows webhooks, each called name, and nil if there is no
// webhook for it. Mutators are called in the order of webhooks. resource returns the name of the resource of a kind,
// such as "shops". Whoever applies the objects checks before that the kinds are served.
func Configurations(name string, target Target, resource func(schema.GroupVersionKind) string, webhooks ...*Webhook) (
	validating *admissionregistrationv1.ValidatingWebhookConfiguration, mutating *admissionregistrationv1.MutatingWebhookConfiguration,
) {
	metadata, version := metav1.ObjectMeta{Name: name}, admissionregistrationv1.SchemeGroupVersion.String()
	for _, w := range webhooks {
		entry := w.entry(target, resource(w.kind))
		if !w.mutating {
			if validating == nil {
				validating = &admissionregistrationv1.ValidatingWebhookConfiguration{
					TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "ValidatingWebhookConfiguration"}, ObjectMeta: metadata,
				}
			}
			validating.Webhooks = append(validating.Webhooks, validatingOf(entry))
			continue
		}
		if mutating == nil {
			mutating = &admissionregistrationv1.MutatingWebhookConfiguration{
				TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "MutatingWebhookConfiguration"}, ObjectMeta: metadata,
			}
		}
		mutating.Webhooks = append(mutating.Webhooks, entry)
	}
	return validating, mutating
}
