package patching

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Patch changes objects of a resource.
type Patch interface {
	// Name identifies the patch in errors.
	Name() string
	// If the patch is for this object of this component, matched is true and Apply returns content with the patch
	// applied. content isn't changed, but the result may share parts of it.
	Apply(ctx context.Context, component, object string, content map[string]any) (patched map[string]any, matched bool, err error)
}

// Patcher finds the patches of resources.
type Patcher interface {
	// Patches returns the patches of a resource in the order in which they are applied. It is called with every
	// reconcile.
	Patches(ctx context.Context, target Target) ([]Patch, error)
}

// Target is a resource whose objects are about to be applied.
type Target struct {
	// Resource is shared: it must not be changed.
	Resource *unstructured.Unstructured
	// View reads the cluster of the resource.
	View deploy.View
	// DryRun means that nothing is applied; Patches must not write.
	DryRun bool
	// Logger is the reconcile's; nil means slog.Default.
	Logger *slog.Logger
}

// Objects returns the objects of a resource with the patches of patcher applied. It doesn't change objects; an object
// without a patch is returned as it is. A nil patcher has no patches.
//
// A patch finds an object by two names: component, which the caller chooses for all objects, and ObjectName. Don't pass
// objects that are about to be deleted: a patch that doesn't fit must not prevent that. A patch that doesn't fit is a
// request.Configuration error, which names the patch and the object.
func Objects(
	ctx context.Context, patcher Patcher, target Target, component string, objects []*unstructured.Unstructured,
) ([]*unstructured.Unstructured, error) {
	if patcher == nil {
		return objects, nil
	}
	patches, err := Find(ctx, patcher, target)
	if err != nil || len(patches) == 0 {
		return objects, err
	}
	patched := make([]*unstructured.Unstructured, len(objects))
	for i, obj := range objects {
		ref := deploy.RefOf(obj)
		ref.Name = cmp.Or(ref.Name, obj.GetGenerateName())
		name := ObjectName(ref, target.Resource.GetNamespace())
		content, err := Apply(ctx, patches, component, name, obj.Object)
		if err != nil {
			return nil, fmt.Errorf("object %s: %w", name, err)
		}
		if patched[i] = obj; !same(content, obj.Object) {
			patched[i] = &unstructured.Unstructured{Object: content}
		}
	}
	return patched, nil
}

// ObjectName returns the name by which a patch finds an object in its component, unless the component has given the
// object another name: kind/name with the kind in lower case, or kind/namespace/name if the object isn't in the
// namespace home. If the object has only a generateName, set it as the name of ref.
func ObjectName(ref deploy.Ref, home string) string {
	name := ref.Name
	if ref.Namespace != "" && ref.Namespace != home {
		name = ref.Namespace + "/" + name
	}
	return strings.ToLower(ref.Kind.Kind) + "/" + name
}

// Find returns the patches of a resource. A panic of the patcher is an error.
func Find(ctx context.Context, patcher Patcher, target Target) ([]Patch, error) {
	patches, err := failure.Value(func() ([]Patch, error) { return patcher.Patches(ctx, target) })
	if err != nil {
		return nil, fmt.Errorf("patches: %w", err)
	}
	return patches, nil
}

// Apply returns the content of an object with patches applied, content itself if none is for this object. An error, or
// a panic, of a patch is a request.Configuration error with the name of the patch.
func Apply(ctx context.Context, patches []Patch, component, object string, content map[string]any) (map[string]any, error) {
	for _, patch := range patches {
		var patched map[string]any
		var matched bool
		if err := failure.Guard(func() (err error) {
			patched, matched, err = patch.Apply(ctx, component, object, content)
			return err
		}); err != nil {
			return nil, request.Configuration("patch %s: %w", patch.Name(), err)
		}
		if matched {
			content = patched
		}
	}
	return content, nil
}

// same reports whether a and b are the same map.
func same(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}
