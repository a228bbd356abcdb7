package dryrun

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/operkit/operkit/deploy"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Conversion converts the objects of a kind between its versions, as a conversion webhook does.
type Conversion struct {
	// Kind is the kind of the objects.
	Kind schema.GroupKind
	// Versions are the versions of the kind. Storage is the version in which objects are stored, unless a
	// CustomResourceDefinition says so.
	Versions []string
	Storage  string
	// Convert returns an object in another version. Only its labels and annotations count of its metadata. It must not
	// change the object, nor call the cluster: a lock is held.
	Convert func(object *unstructured.Unstructured, version string) (*unstructured.Unstructured, error)
}

// Conversions adds conversions of kinds. Their objects are stored in one version, and read and written in each: the
// versions of other field managers are converted, too. If an object can't be converted, reads and writes of it fail, as
// on an API server; a subscription leaves its event out. Without a conversion, an object has the same fields in all
// versions.
func Conversions(conversions ...Conversion) Option {
	return func(o *options) { o.conversions = append(o.conversions, conversions...) }
}

// converted returns the conversion of a kind, nil if there is none.
func (k *kinds) converted(kind schema.GroupKind) *Conversion {
	if i := slices.IndexFunc(k.conversions, func(c Conversion) bool { return c.Kind == kind }); i >= 0 {
		return &k.conversions[i]
	}
	return nil
}

// storageVersion returns the version in which objects of a converted kind are stored.
func (k *kinds) storageVersion(c *Conversion) string {
	if version, defined := k.storages[c.Kind]; defined && !k.schemaless {
		return version
	}
	return c.Storage
}

// toStore returns an object in the version in which it is stored. The lock is held.
func (c *Cluster) toStore(d *declaration, next *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if d.conversion == nil {
		return next, nil
	}
	stored, err := c.kinds.of(d.conversion.Kind.WithVersion(c.kinds.storageVersion(d.conversion)))
	if err != nil {
		return nil, err
	}
	return shared(next, stored)
}

// convertTo returns an object in the version of a kind with a conversion. Of the metadata that comes back, only labels
// and annotations count. The error is that of an API server.
func (d *declaration) convertTo(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	failed := func(err error) error {
		text := fmt.Sprintf("conversion webhook for %s failed: %v", obj.GroupVersionKind(), err)
		server := &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: text}}
		return &deploy.UnavailableError{Ref: deploy.RefOf(obj), Err: server}
	}
	after, err := d.conversion.Convert(obj, d.kind.Version)
	if err != nil {
		return nil, failed(err)
	}
	if got := after.GroupVersionKind(); got != d.kind {
		return nil, failed(fmt.Errorf("invalid groupVersionKind of the converted object: %s", got))
	}
	converted := after.DeepCopy()
	metadata := (&unstructured.Unstructured{Object: map[string]any{"metadata": metadataOf(obj)}}).DeepCopy()
	for _, field := range []string{"labels", "annotations"} {
		copyField(metadataOf(metadata), metadataOf(converted), field)
	}
	converted.Object["metadata"] = metadataOf(metadata)
	tidy(metadataOf(converted))
	d.unknown(converted, true)
	return converted, nil
}
