package handlers

import (
	"cmp"

	"github.com/operkit/operkit/reconcile/handlers/internal/engine"
	"github.com/operkit/operkit/reconcile/handlers/internal/kopf"
	"k8s.io/apimachinery/pkg/util/validation"
)

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
		c.Kopf = &engine.KopfMarks{Domain: cmp.Or(domain, kopf.Domain), Finalizer: cmp.Or(finalizer, kopf.Finalizer)}
	}
}
