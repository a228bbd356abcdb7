package handlers

import (
	"cmp"

	"github.com/operkit/operkit/reconcile/handlers/internal/kopf"
	"k8s.io/apimachinery/pkg/util/validation"
)

// kopfMarks are the names of what a kopf operator keeps on objects.
type kopfMarks struct {
	is                        bool
	domain, finalizer, status string
}

// FromKopf takes over from a kopf operator: an object without a record counts as handled as the kopf operator has
// recorded it, so that nothing is created anew, and the finalizer of the kopf operator holds the object like the own
// one, until it isn't needed any more. domain and finalizer are those that the kopf operator has set
// (settings.persistence.diffbase_storage and settings.persistence.finalizer), empty for kopf's defaults. What the kopf
// operator hadn't finished is done anew. Stop the kopf operator first.
func FromKopf(domain, finalizer string) KindOption {
	return func(c *config) {
		if len(validation.IsDNS1123Subdomain(cmp.Or(domain, kopf.Domain))) > 0 {
			c.fail("from kopf: domain %q: not a valid domain: use the prefix of the kopf operator's annotations", domain)
		}
		if len(validation.IsQualifiedName(cmp.Or(finalizer, kopf.Finalizer))) > 0 {
			c.fail("from kopf: finalizer %q: not a valid name: use that of the kopf operator", finalizer)
		}
		c.kopf = kopfMarks{is: true, domain: cmp.Or(domain, kopf.Domain), finalizer: cmp.Or(finalizer, kopf.Finalizer), status: "kopf"}
	}
}

func (k kopfMarks) finalizers() []string {
	if !k.is {
		return nil
	}
	return []string{k.finalizer}
}

// essence returns the essence that the kopf operator has recorded in an annotation or in the status.
func (k kopfMarks) essence(object map[string]any) (essence map[string]any, ok bool) {
	if !k.is {
		return nil, false
	}
	if essence, ok = kopf.Essence(object, k.domain); ok {
		return essence, true
	}
	return kopf.EssenceInStatus(object, k.status)
}
