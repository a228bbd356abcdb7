package engine

import "github.com/operkit/operkit/reconcile/handlers/internal/kopf"

// Config is what is set for all handlers of a kind. The zero value is the default.
type Config struct {
	// Finalizer is the name of the finalizer, empty for <domain>/<operator>.
	Finalizer string
	// Ignored are the paths of fields that are left out of the essence.
	Ignored [][]string
	// Stateless: no record is stored on the objects.
	Stateless bool
	// StatusField is the field of the status in which the record is stored, empty for an annotation.
	StatusField string
	// Reads returns why the type of the handlers can't hold an object, nil if it can. A nil Reads is one that holds each.
	Reads func(object map[string]any) error
	// Kopf are the marks of a kopf operator that is replaced, nil without one.
	Kopf *KopfMarks
}

// KopfMarks are the names of what a kopf operator keeps on objects.
type KopfMarks struct {
	// Domain is that of its annotations, and Finalizer its finalizer.
	Domain, Finalizer string
}

// kopfStatus is the field of the status in which a kopf operator may keep what it has handled.
const kopfStatus = "kopf"

func (k *KopfMarks) finalizers() []string {
	if k == nil {
		return nil
	}
	return []string{k.Finalizer}
}

// essence returns the essence that the kopf operator has recorded in an annotation or in the status.
func (k *KopfMarks) essence(object map[string]any) (essence map[string]any, ok bool) {
	if k == nil {
		return nil, false
	}
	if essence, ok = kopf.Essence(object, k.Domain); ok {
		return essence, true
	}
	return kopf.EssenceInStatus(object, kopfStatus)
}
