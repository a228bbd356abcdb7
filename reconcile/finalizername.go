package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/finalizer"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
)

// setFinalizer sets the names of the finalizer of the controller's resources. For a controller without Finalize and
// OwnAnywhere, whose resources get no finalizer, the option FinalizerName is an error.
func (o *options) setFinalizer(c Controller) error {
	_, has := c.(Finalizer)
	has = has || o.ownAnywhere
	o.finalizers = []string{o.finalizerName}
	if o.finalizerName == "" {
		o.finalizers = finalizer.Names(c.Kind())
	} else if !has {
		return fmt.Errorf("controller %T: has the finalizer %q but no Finalize", c, o.finalizerName)
	}
	if problems := validation.IsQualifiedName(o.finalizers[0]); has && len(problems) > 0 {
		return fmt.Errorf("controller %T: the finalizer %q isn't valid: %s: choose another by FinalizerName",
			c, o.finalizers[0], strings.Join(problems, "; "))
	}
	return nil
}

// Finalizers implements finalizer.Provider: it returns the names of the finalizers that are removed when a resource is
// deleted. The first one is the name that resources get, unless they have another one already.
func (r *Reconciler) Finalizers() []string { return slices.Clone(r.options.finalizers) }

// held returns those of our finalizers that a resource has. A resource that has the finalizer of oper8 gets no other
// one, so that the operator that has added it can still remove it.
func (r *Reconciler) held(resource *unstructured.Unstructured) []string {
	present := resource.GetFinalizers()
	return slices.DeleteFunc(slices.Clone(r.options.finalizers), func(name string) bool { return !slices.Contains(present, name) })
}
