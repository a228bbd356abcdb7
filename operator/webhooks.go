package operator

import (
	"log/slog"
	"net/http"

	"github.com/operkit/operkit/reconcile/admission"
	"github.com/operkit/operkit/reconcile/admission/rule"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Admission decides about objects of one kind before they are stored. *admission.Hooks is one.
type Admission interface {
	// Webhooks returns what the API server asks, or all mistakes of the registration.
	Webhooks() ([]*admission.Webhook, error)
}

// Conversion converts the objects of one kind between its versions. *conversion.Converter is one.
type Conversion interface {
	// Kind is the kind of the objects.
	Kind() schema.GroupKind
	// Check returns all mistakes of the registration.
	Check() error
	// KeyDomain sets the domain of the annotations: the operator's.
	KeyDomain(domain string)
	// Handler answers the API server's reviews under Path.
	Handler(logger *slog.Logger) http.Handler
	Path() string
}

// Admit adds functions that validate or change objects before they are stored. Every replica answers the API server,
// whether or not it leads, and before anything is watched. The leader keeps the configurations of the webhooks. The
// webhooks of kinds without a controller of this operator aren't called for objects in the operator's own namespace, so
// that an operator that is down can be started again.
//
// Mistakes are reported when the operator starts. Prefer Enforce, or rules in the CustomResourceDefinition, for what
// CEL can express.
func (o *Operator) Admit(hooks Admission) { o.webhooks.Admit(hooks) }

// Convert adds the conversion of a kind between its versions. It is answered like the webhooks of Admit. The leader
// keeps the field spec.conversion of the CustomResourceDefinition, before the controllers read anything.
func (o *Operator) Convert(c Conversion) { o.webhooks.Convert(c) }

// Enforce adds rules that the API server checks by itself, for any kind. The leader keeps the policy.
func (o *Operator) Enforce(rules rule.Set, policy rule.Policy) { o.webhooks.Enforce(rules, policy) }
