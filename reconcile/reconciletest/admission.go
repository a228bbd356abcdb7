package reconciletest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/admission"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// AdmissionHooks are *admission.Hooks for objects of any type.
type AdmissionHooks interface {
	// Kind returns the kind of the objects.
	Kind() schema.GroupVersionKind
	// Webhooks returns the webhooks of the kind.
	Webhooks() ([]*admission.Webhook, error)
}

// Admission asks webhooks about every write in the cluster in memory, as an API server would: those of the test and
// those of the reconcilers. Mutators are called first, in their order, and again with admission.Reinvoke; then the
// object is validated by its schema, and then by the validators. Each of them gets a review in JSON by the webhook's
// own Handler, and its configuration decides about operations, selectors, failures and time.
//
// A condition in CEL (admission.If) is an error, since the harness evaluates no CEL: test such a webhook on a real API
// server. The garbage collector's deletions in memory ask nobody. Several options add up.
func Admission(hooks ...AdmissionHooks) Option {
	return func(o *options) { o.admission = append(o.admission, hooks...) }
}

// Warnings returns the warnings that webhooks have answered since the last call of Warnings.
func (h *Harness) Warnings() []string {
	h.t.Helper()
	h.onlyInMemory("Warnings")
	if h.webhooks == nil {
		return nil
	}
	h.webhooks.mu.Lock()
	defer h.webhooks.mu.Unlock()
	warnings := h.webhooks.warnings
	h.webhooks.warnings = nil
	return warnings
}

// asked is a webhook with its entry in the configuration.
type asked struct {
	admissionregistrationv1.MutatingWebhook
	kind    schema.GroupVersionKind
	handler http.Handler
}

// readWebhooks returns the webhooks that mutate and those that validate.
func (h *Harness) readWebhooks() (mutating, validating []asked, err error) {
	var errs []error
	names := map[string]bool{}
	for _, hooks := range h.options.admission {
		if hooks == nil {
			errs = append(errs, errors.New("option Admission: nil hooks"))
			continue
		}
		webhooks, err := hooks.Webhooks()
		errs = append(errs, err)
		for _, webhook := range webhooks {
			entry := entryOf(webhook)
			switch {
			case names[entry.Name]:
				errs = append(errs, fmt.Errorf("option Admission: there are two webhooks %s: tell them apart by admission.Named", entry.Name))
			case len(entry.MatchConditions) > 0:
				errs = append(errs, fmt.Errorf("option Admission: webhook %s has the condition %s in CEL, which only an API server can evaluate: test it on a real one (option On)",
					entry.Name, entry.MatchConditions[0].Name))
			}
			names[entry.Name] = true
			one := asked{entry, hooks.Kind(), webhook.Handler(h.logger())}
			if webhook.Mutating() {
				mutating = append(mutating, one)
			} else {
				validating = append(validating, one)
			}
		}
	}
	return mutating, validating, errors.Join(errs...)
}

// entryOf returns the entry of a webhook in the configuration, as one of a mutating webhook.
func entryOf(webhook *admission.Webhook) admissionregistrationv1.MutatingWebhook {
	validating, mutating := admission.Configurations("test", admission.Target{URL: "https://test"}, resourceOf, webhook)
	if mutating != nil {
		return mutating.Webhooks[0]
	}
	e := validating.Webhooks[0]
	return admissionregistrationv1.MutatingWebhook{
		Name: e.Name, Rules: e.Rules, FailurePolicy: e.FailurePolicy, NamespaceSelector: e.NamespaceSelector, ObjectSelector: e.ObjectSelector,
		TimeoutSeconds: e.TimeoutSeconds, MatchConditions: e.MatchConditions,
	}
}

// resourceOf returns the name by which rules of webhooks and kinds of writes are compared.
func resourceOf(kind schema.GroupVersionKind) string {
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return plural.Resource
}

// matches reports whether a webhook is asked about a write.
func (w *webhooks) matches(ctx context.Context, a asked, review *dryrun.Write) (bool, error) {
	if a.kind.GroupKind() != review.Ref.Kind.GroupKind() || !a.ruled(review) {
		return false, nil
	}
	objects, err := a.selectsObject(review)
	if err != nil || !objects {
		return false, err
	}
	return w.selectsNamespace(ctx, a, review)
}

// ruled reports whether a rule is about the operation and the resource.
func (a asked) ruled(review *dryrun.Write) bool {
	resource := resourceOf(a.kind)
	if sub := review.Call.Subresource; sub != "" {
		resource += "/" + sub
	}
	return slices.ContainsFunc(a.Rules, func(rule admissionregistrationv1.RuleWithOperations) bool {
		return slices.Contains(rule.Operations, operationOf(review)) &&
			(slices.Contains(rule.Resources, resource) || review.Call.Subresource != "" && slices.Contains(rule.Resources, resourceOf(a.kind)+"/*"))
	})
}

func operationOf(review *dryrun.Write) admissionregistrationv1.OperationType {
	switch {
	case review.Object == nil:
		return admissionregistrationv1.Delete
	case review.Old == nil:
		return admissionregistrationv1.Create
	}
	return admissionregistrationv1.Update
}
